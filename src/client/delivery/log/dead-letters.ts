import type { DeadLetter } from '../delivery.ts';
import type { Log } from './log.ts';
import {
  bannerEvent,
  DEAD_RANGE,
  type DeadRecord,
  deadKey,
  type EventKey,
  type Kept,
  keyText,
  readEvent,
  type Writes,
} from './records.ts';

/** An event that the server would not take, under the key that it had in the queue. */
interface Letter extends Kept {
  reason: string;
}

/** The events that the server would not take: listed, sent once more, or given up, by the host's decision. */
export const createDeadLetters = (log: Log) => {
  async function* letters(): AsyncGenerator<Letter[]> {
    for await (const records of log.pages<DeadRecord>(DEAD_RANGE)) {
      yield records.flatMap(([key, record]): Letter[] => {
        const event = readEvent(record?.event);
        const [, ...place] = key as EventKey;
        return event ? [{ key: ['event', ...place], event, reason: record.reason }] : [];
      });
    }
  }

  /** Returns the letters that really moved. */
  const move = async (keys: string[] | undefined, isBack: boolean): Promise<Kept[]> => {
    const moved: Kept[] = [];
    for await (const page of letters()) {
      const chosen = page.filter(({ key }) => keys?.includes(keyText(key)) ?? true);
      let there: Letter[] = [];
      await log.step(
        chosen.map(({ key }) => deadKey(key)),
        (control, records) => {
          there = chosen.filter((_, i) => records[i] !== undefined);
          if (there.length === 0) return null;
          if (!isBack) control.discarded += there.length;
          return there.flatMap(({ key, event }): Writes => {
            const back: Writes = isBack ? [[key, { ...event, attempts: 0 }]] : [];
            return [[deadKey(key), undefined], ...back];
          });
        },
      );
      moved.push(...there);
    }
    return moved;
  };

  return {
    async list(): Promise<DeadLetter[]> {
      const all: DeadLetter[] = [];
      for await (const page of letters()) {
        for (const { key, event, reason } of page) {
          all.push({ key: keyText(key), event: bannerEvent(event), reason, attempts: event.attempts });
        }
      }
      return all;
    },
    /** Back to their positions in the queue, as if they had never been sent. */
    retry: (keys?: string[]) => move(keys, true),
    discard: (keys?: string[]) => move(keys, false),
  };
};
