import { expect, test, vi } from 'vitest';
import type { Notice } from '../../src/client/index.ts';
import { createNotices } from '../../src/client/notices.ts';

const CONSENT: Notice = { type: 'consent', state: 'enabled' };

test('calls every subscriber in order of subscription', () => {
  const { notify, subscribe } = createNotices();
  const heard: string[] = [];
  subscribe(() => heard.push('first'));
  subscribe(() => heard.push('second'));
  notify(CONSENT);
  expect(heard).toEqual(['first', 'second']);
});

test('case 8: reports a subscriber that throws, and delivers both notices to the others', () => {
  const { notify, subscribe } = createNotices();
  const heard: Notice[] = [];
  const cause = new Error('no');
  subscribe((notice) => {
    if (notice.type === 'consent') throw cause;
  });
  subscribe((notice) => heard.push(notice));
  notify(CONSENT);
  expect(heard).toEqual([
    { type: 'failed', kind: 'listener', message: 'A subscriber threw', cause },
    CONSENT,
  ]);
});

test('a subscriber that throws at every notice does not cause an infinite loop', () => {
  const { notify, subscribe } = createNotices();
  const listener = vi.fn(() => {
    throw new Error('always');
  });
  subscribe(listener);
  notify(CONSENT);
  expect(listener).toHaveBeenCalledTimes(2);
});

test('lets a function subscribe twice, and removes one subscription on unsubscribe', () => {
  const { notify, subscribe } = createNotices();
  const listener = vi.fn();
  const leave = subscribe(listener);
  subscribe(listener);
  leave();
  leave();
  notify(CONSENT);
  expect(listener).toHaveBeenCalledTimes(1);
});
