import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createFetch } from '../../src/service/gate/fetch.ts';
import { exchangeOf } from '../../src/service/http-exchange.ts';

const FIRST = 'the first chunk, ';
/** One object for many chunks, each written over the last: whoever kept it instead of its byte reads only the last. */
const shared = Buffer.alloc(1);
const DIGITS = '0123456789';

test('a body in many chunks is held as its bytes, not as its chunks', async () => {
  const request = Object.assign(new EventEmitter(), { headers: {}, complete: true, url: '/' });
  const body = exchangeOf(request as unknown as IncomingMessage, () => undefined).body(100);
  request.emit('data', Buffer.from(FIRST));
  for (const digit of DIGITS) {
    shared.write(digit);
    request.emit('data', shared);
  }
  request.emit('end');
  expect(Buffer.from((await body)!).toString()).toBe(FIRST + DIGITS);
});

test('the body of a Request is held in the same way', async () => {
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
