import { describe, expect, test, vi } from 'vitest';
import { createProgress, durationText, progressText } from '../../src/cli/track/progress.ts';

test.each([
  [7_400, '7 s'],
  [80_000, '1 min 20 s'],
  [7_500_000, '2 h 5 min'],
])('formats %d ms as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

describe('the progress line', () => {
  const facts = { processed: 45_000, elapsedMs: 5_000, readBytes: 1_000, leftBytes: 6_200 };

  test('shows the number of objects, the rate, and the remaining time', () => {
    expect(progressText(facts)).toBe('45,000 objects, 9,000 a second, 31 s left');
  });

  test('omits the remaining time if the total is unknown or no response has arrived', () => {
    expect(progressText({ ...facts, leftBytes: null })).toBe('45,000 objects, 9,000 a second');
    expect(progressText({ ...facts, processed: 0, elapsedMs: 0, readBytes: 0 })).toBe(
      '0 objects, 0 a second',
    );
  });
});

describe('progress on stderr', () => {
  const facts = { processed: 1, elapsedMs: 1_000, readBytes: 1, leftBytes: null };
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

  test('is redrawn on a terminal, below messages, and removed at the end', () => {
    const line = '\r\u001b[K1 object, 1 a second';
    expect(run(true)).toBe(`${line}\r\u001b[Kone sentence\n${line}\r\u001b[K`);
  });

  test('is not drawn without a terminal', () => {
    expect(run(false)).toBe('one sentence\n');
  });
});
