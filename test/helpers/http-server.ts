import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handler = (request: Request) => Promise<Response>;

export interface HttpServer {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  /** Closes the port and all connections. `start` opens the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

const toRequest = async (message: IncomingMessage, origin: string): Promise<Request> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const headers = new Headers();
  for (let at = 0; at < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at]!, message.rawHeaders[at + 1]!);
  }
  const { method = 'GET', url = '/' } = message;
  const body = chunks.length > 0 && method !== 'GET' && method !== 'HEAD' ? Buffer.concat(chunks) : null;
  return new Request(new URL(url, origin), { method, headers, body });
};

/** Streams the response, so that a body that fails midway closes the connection midway. */
const send = async (response: Response, to: ServerResponse): Promise<void> => {
  to.writeHead(response.status, [...response.headers].flat());
  // Sends the head before the body may fail.
  to.flushHeaders();
  for await (const chunk of response.body ?? []) to.write(chunk);
  to.end();
};

/**
 * Serves a handler on a loopback port. If the handler rejects, the socket is closed without a response.
 */
export const serveHandler = async (handler: Handler): Promise<HttpServer> => {
  let origin = '';
  const create = (port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const server = createServer(async (message, response) => {
        try {
          await send(await handler(await toRequest(message, origin)), response);
        } catch {
          // A failure of the handler closes the socket.
          message.socket.destroy();
        }
      });
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve(server));
    });
  const end = (server: Server): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  let server: Server | undefined = await create(0);
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  const stop = async () => {
    if (server) await end(server);
    server = undefined;
  };
  return {
    origin,
    stop,
    async start() {
      server ??= await create(port);
    },
    close: stop,
  };
};
