import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { call } from '../../../src/studio/pages/call.ts';
import { POLL_HEADER } from '../../../src/studio/poll-header.ts';

const fetch = vi.fn(async (_path: string, _request: RequestInit) => new Response('{}'));
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.stubGlobal('fetch', fetch);
});
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const isPoll = async (): Promise<boolean> => {
  await call('GET', '/api/campaigns');
  return new Headers(fetch.mock.lastCall![1].headers).has(POLL_HEADER);
};

// Screen readers cause only a click, dictation only input.
test.each(['pointerdown', 'keydown', 'wheel', 'touchmove', 'click', 'input'])(
  'requests are polls a minute after the last input (%s)',
  async (type) => {
    vi.setSystemTime(Date.now() + 61_000);
    expect(await isPoll()).toBe(true);
    document.body.dispatchEvent(new Event(type, { bubbles: true }));
    expect(await isPoll()).toBe(false);
  },
);
