import type { WriteStream } from 'node:tty';
import { count } from '../sentence.ts';

const DRAW_MS = 500;
/** Escape sequence that moves the cursor to the start of the line and clears the line. */
const CLEAR = '\r\u001b[K';

/** Formats a duration, such as `2 h 5 min`, `1 min 20 s` or `7 s`. */
export const durationText = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return seconds >= 60 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${seconds} s`;
};

interface ProgressFacts {
  /** Number of objects whose request has a response. */
  processed: number;
  elapsedMs: number;
  /** Bytes read since the first object was sent, and bytes left; `null` if the size of the input is unknown. */
  readBytes: number;
  leftBytes: number | null;
}

/** Formats progress, such as `45,000 objects, 8,300 a second, 31 s left`. */
export const progressText = ({ processed, elapsedMs, readBytes, leftBytes }: ProgressFacts): string => {
  const rate = elapsedMs > 0 ? Math.round((processed * 1000) / elapsedMs) : 0;
  const text = `${count(processed, 'object')}, ${rate.toLocaleString('en-US')} a second`;
  if (leftBytes === null || readBytes === 0 || processed === 0) return text;
  return `${text}, ${durationText((elapsedMs * leftBytes) / readBytes)} left`;
};

/** Prints messages to stderr, with a progress line below them on a terminal. */
export const createProgress = (out: NodeJS.WriteStream | WriteStream, facts: () => ProgressFacts) => {
  const draw = () => out.write(`${CLEAR}${progressText(facts())}`);
  const timer = out.isTTY ? setInterval(draw, DRAW_MS).unref() : undefined;
  const clear = () => {
    if (timer) out.write(CLEAR);
  };
  return {
    say(sentence: string): void {
      clear();
      out.write(`${sentence}\n`);
    },
    end(): void {
      clearInterval(timer);
      clear();
    },
  };
};
