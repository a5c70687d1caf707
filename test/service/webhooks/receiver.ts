import { onTestFinished } from 'vitest';
import { type HttpServer, serveHandler } from '../../helpers/http-server.ts';

interface Received {
  messageId: string;
  headers: Headers;
  body: string;
  events: { id: string; event_type: string; user: { external_user_id: string | null } }[];
}

export interface Receiver {
  url: string;
  /** Accepted requests. All others are in `failed`. */
  delivered: Received[];
  failed: Received[];
  /** Response to each request from now on; a rejection drops the connection. Default: 204. */
  answer: (received: Received) => Promise<Response> | Response;
  server: HttpServer;
}

/** Webhook receiver on a loopback port until the test ends. */
export const aReceiver = async (): Promise<Receiver> => {
  const server = await serveHandler(async (request) => {
    const body = await request.text();
    const json = JSON.parse(body) as { events: Received['events'] } | { data: Received['events'][number] }[];
    const received = {
      messageId: request.headers.get('webhook-id') ?? '',
      headers: request.headers,
      body,
      events: Array.isArray(json) ? json.map(({ data }) => data) : json.events,
    };
    try {
      const response = await receiver.answer(received);
      (response.ok ? receiver.delivered : receiver.failed).push(received);
      return response;
    } catch (error) {
      receiver.failed.push(received);
      throw error;
    }
  });
  const receiver: Receiver = {
    url: `${server.origin}/hook`,
    delivered: [],
    failed: [],
    answer: () => new Response(null, { status: 204 }),
    server,
  };
  onTestFinished(server.close);
  return receiver;
};
