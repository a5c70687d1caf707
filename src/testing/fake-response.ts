import type { FakeAnswer } from './fake-answer.ts';
import { isOpenToPages } from './fake-endpoints.ts';
import { ConnectionDropped, type Fault } from './fault.ts';

const EXPOSED =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Retry-After, Retry-After, Date, Placard-User-Token';

export const preflightResponse = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'GET, POST',
      'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    },
  });

/** An answer as it travels: with the headers of its endpoint, and cut off where the fault says so. */
export const responseOf = (path: string, answer: FakeAnswer, fault: Fault | undefined): Response => {
  const isText = typeof answer.body === 'string';
  const text = isText ? (answer.body as string) : JSON.stringify(answer.body);
  const hidden = fault?.type === 'rate-limit' && fault.form === 'hidden';
  const isOpen = isOpenToPages(path);
  const headers = {
    'Content-Type': isText ? 'text/html; charset=utf-8' : 'application/json',
    ...(isOpen && { 'Access-Control-Allow-Origin': '*' }),
    ...(isOpen && !hidden && { 'Access-Control-Expose-Headers': EXPOSED }),
    ...answer.headers,
  };
  if (fault?.type !== 'truncate') return new Response(text, { status: answer.status, headers });
  const half = new TextEncoder().encode(text.slice(0, text.length / 2));
  const body = new ReadableStream(
    {
      start(controller) {
        controller.enqueue(half);
        if (!fault.broken) controller.close();
      },
      pull(controller) {
        // Not in `start`: an error at once would throw away the half that was sent.
        controller.error(new ConnectionDropped('The connection broke in the middle of the answer'));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: answer.status, headers });
};
