// One PostgreSQL per run, started when the first test requests a database.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Responds to each request with the URL of a new database. */
    postgresDatabases: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | null = null;
  const door = createServer((_request, response) => {
    server ??= startPostgres();
    server
      .then((running) => running.createDatabase())
      .then(
        (url) => response.end(url),
        (error: unknown) => {
          // The next request retries.
          server = null;
          response.statusCode = 500;
          response.end(String(error));
        },
      );
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  project.provide('postgresDatabases', `http://127.0.0.1:${(door.address() as AddressInfo).port}/`);
  return async () => {
    door.close();
    await (await server)?.stop();
  };
}
