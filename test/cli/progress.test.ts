import { describe, expect, test, vi } from 'vitest';
import { createProgress, durationText, progressText } from '../../src/cli/track/progress.ts';

test.each([
  [7_400, '7 s'],
  [80_000, '1 min 20 s'],
  [7_500_000, '2 h 5 min'],
])('%d ms is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

describe('the line of progress', () => {
  const facts = { answered: 45_000, elapsedMs: 5_000, readBytes: 1_000, leftBytes: 6_200 };

  test('tells how many objects, how fast, and how long it takes until the end of the file', () => {
    expect(progressText(facts)).toBe('45,000 objects, 9,000 a second, 31 s left');
  });

  test('tells no time where the end is not known, or nothing was answered', () => {
    expect(progressText({ ...facts, leftBytes: null })).toBe('45,000 objects, 9,000 a second');
    expect(progressText({ ...facts, answered: 0, elapsedMs: 0, readBytes: 0 })).toBe('0 objects, 0 a second');
  });
});

describe('progress on stderr', () => {
  const facts = { answered: 1, elapsedMs: 1_000, readBytes: 1, leftBytes: null };
  const run = (isTTY: boolean) => {
    vi.useFakeTimers();
    let text = '';
    const out = { isTTY, write: (more: string) => (text += more) } as unknown as NodeJS.WriteStream;
    const progress = createProgress(out, () => facts);
    vi.advanceTimersByTime(500);
    progress.say('one sentence');
    vi.advanceTimersByTime(500);
    progress.end();
    vi.advanceTimersByTime(5_000);
    vi.useRealTimers();
    return text;
  };

  test('is drawn anew on a terminal, below what is said, and goes at the end', () => {
    const line = '\r\u001b[K1 object, 1 a second';
    expect(run(true)).toBe(`${line}\r\u001b[Kone sentence\n${line}\r\u001b[K`);
  });

  test('is not drawn elsewhere', () => {
    expect(run(false)).toBe('one sentence\n');
  });
});
