import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';

interface Message {
  id?: number | string;
}

/**
 * Serves a process that speaks MCP over stdio on a URL, for tools that test URLs only. Forwards each message unchanged
 * except for its ID, because several clients may use the same. Sessions, streams and HTTP status codes are not bridged.
 */
export const serveMcpBridge = async (child: ChildProcess) => {
  const pending = new Map<number, (response: Message) => void>();
  let lastId = 0;
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    pending.get(Number(message.id))?.(message);
  });
  const write = (message: Message) => child.stdin!.write(`${JSON.stringify(message)}\n`);

  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const message = (await json(request)) as Message;
    if (message.id === undefined) {
      write(message);
      response.writeHead(202).end();
      return;
    }
    lastId += 1;
    const answered = new Promise<Message>((resolve) => pending.set(lastId, resolve));
    write({ ...message, id: lastId });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...(await answered), id: message.id }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async stop() {
      server.close();
      server.closeAllConnections();
      child.stdin!.end();
      await once(child, 'exit');
    },
  };
};
