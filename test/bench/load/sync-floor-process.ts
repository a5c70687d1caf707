// The floor of a sync: reads the user's row from SQLite and returns a stored body, without keys and campaigns.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

const database = new DatabaseSync(process.argv[2]!, { readOnly: true });
const answer = readFileSync(process.argv[3]!, 'utf8');
const read = database.prepare(
  `SELECT profile FROM user_identifiers JOIN users USING (user_id)
   WHERE user_identifiers.workspace_id = 'bench' AND user_identifiers.identifier = ?`,
);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { external_user_id } = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>;
    if (!read.get(`external_id:${external_user_id}`)) throw new Error('The floor must find its user');
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(answer),
    });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

// Exits with the bench.
process.once('disconnect', () => process.exit());
