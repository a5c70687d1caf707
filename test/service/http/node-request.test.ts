import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createFetch } from '../../../src/service/http/fetch.ts';
import { createUploadLimiter, toHttpRequest } from '../../../src/service/http/node-request.ts';

const FIRST = 'the first chunk, ';
/** One buffer for many chunks, overwritten each time: code that keeps the buffer instead of its byte reads only the last. */
const shared = Buffer.alloc(1);
const DIGITS = '0123456789';

const aRequest = () =>
  Object.assign(new EventEmitter(), { headers: {}, complete: true, url: '/', socket: {} });
const getBody = (request: object, receiving: ReturnType<typeof createUploadLimiter>) =>
  toHttpRequest(request as IncomingMessage, receiving, () => undefined).body(100);

test('rejects a body whose client disconnected before it was read, without adding listeners', async () => {
  const request = Object.assign(aRequest(), { complete: false, destroyed: true });
  await expect(getBody(request, createUploadLimiter(250))).rejects.toMatchObject({ status: 400 });
  expect(request.eventNames()).toEqual([]);
});

test('limits slow bodies together by rejecting the oldest, and never a fast one', async () => {
  const receiving = createUploadLimiter(250);
  const slow = Array.from({ length: 5 }, () => {
    const request = aRequest();
    const body = getBody(request, receiving);
    return {
      request,
      outcome: body.then(
        (bytes) => bytes?.byteLength,
        (error) => error.status as number,
      ),
    };
  });
  for (const { request } of slow) request.emit('data', Buffer.alloc(90));
  const quick = aRequest();
  const whole = getBody(quick, receiving);
  quick.emit('data', Buffer.alloc(80));
  quick.emit('end');
  for (const { request } of slow) request.emit('end');
  expect((await whole)?.byteLength).toBe(80);
  expect(await Promise.all(slow.map(({ outcome }) => outcome))).toEqual([503, 503, 503, 503, 90]);
  // Rejected and completed bodies no longer count.
  const next = aRequest();
  const body = getBody(next, receiving);
  next.emit('data', Buffer.alloc(100));
  next.emit('end');
  expect((await body)?.byteLength).toBe(100);
});

test('uses only the memory of its bytes for a body in many chunks', async () => {
  const request = aRequest();
  const body = getBody(request, createUploadLimiter());
  request.emit('data', Buffer.from(FIRST));
  for (const digit of DIGITS) {
    shared.write(digit);
    request.emit('data', shared);
  }
  request.emit('end');
  expect(Buffer.from((await body)!).toString()).toBe(FIRST + DIGITS);
});

test('counts the body of a Request in the same way', async () => {
  const left = [...DIGITS];
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(Buffer.from(FIRST)),
      pull: (controller) => {
        const digit = left.shift();
        if (digit === undefined) return controller.close();
        shared.write(digit);
        controller.enqueue(shared);
      },
    },
    { highWaterMark: 0 },
  );
  let read = '';
  const send = createFetch(async (exchange) => {
    read = Buffer.from((await exchange.body(100))!).toString();
    return { status: 204, headers: {}, body: '' };
  });
  await send(
    new Request('http://localhost/', { method: 'POST', body: stream, duplex: 'half' } as RequestInit),
  );
  expect(read).toBe(FIRST + DIGITS);
});
