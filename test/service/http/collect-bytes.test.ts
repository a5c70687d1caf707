import { describe, expect, test } from 'vitest';
import { collectBytes } from '../../../src/service/http/http-request.ts';

const KB = 1024;
const toBytes = (length: number) => Uint8Array.from({ length }, (_, index) => index % 251);

describe('the chunks of a body', () => {
  test('are not copied if there is only one', () => {
    const body = collectBytes(KB);
    const chunk = toBytes(100);
    expect(body.add(chunk)).toBe(true);
    expect(body.bytes().buffer).toBe(chunk.buffer);
    expect(body.bytes()).toEqual(chunk);
  });

  test.each([1, 7, 1_000, 64 * KB, 150_000])('of %d bytes each are joined in order', (size) => {
    const whole = toBytes(200_000);
    const body = collectBytes(whole.byteLength);
    for (let start = 0; start < whole.byteLength; start += size) {
      body.add(whole.subarray(start, start + size));
    }
    expect(Buffer.compare(body.bytes(), whole)).toBe(0);
  });

  test('of one byte each are copied into one buffer of at most twice their length', () => {
    const body = collectBytes(4 * KB * KB);
    let kept = 0;
    for (let length = 1; length <= 300_000; length += 1) {
      body.add(Uint8Array.of(1));
      kept = Math.max(kept, body.bytes().buffer.byteLength / Math.max(length, 32 * KB));
    }
    expect(kept).toBeLessThanOrEqual(2);
  });

  test('leave the first chunk unmodified', () => {
    const body = collectBytes(KB);
    const slab = Buffer.from('first and what is of another');
    body.add(slab.subarray(0, 5));
    body.add(Buffer.from(' second'));
    expect(Buffer.from(body.bytes()).toString()).toBe('first second');
    expect(slab.toString()).toBe('first and what is of another');
  });

  test('are discarded above the limit, which is inclusive', () => {
    const body = collectBytes(100_000);
    expect(body.add(toBytes(60_000))).toBe(true);
    expect(body.add(toBytes(40_000))).toBe(true);
    expect(body.bytes().byteLength).toBe(100_000);
    expect(body.bytes().buffer.byteLength).toBe(100_000);
    expect(body.add(toBytes(1))).toBe(false);
    expect(body.bytes().byteLength).toBe(0);
  });

  test('may be absent or empty', () => {
    const body = collectBytes(10);
    expect(body.bytes().byteLength).toBe(0);
    body.add(new Uint8Array(0));
    body.add(toBytes(2));
    expect(body.bytes()).toEqual(toBytes(2));
  });
});
