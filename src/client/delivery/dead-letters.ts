import type { Store } from '../platform/store.ts';
import type { DeadLetter } from './delivery.ts';
import type { Ledger } from './ledger.ts';
import {
  bannerEvent,
  bytesOf,
  DEAD_RANGE,
  type DeadRecord,
  deadKey,
  type EventKey,
  type Kept,
  keyText,
  readEvent,
  VERSION,
} from './records.ts';

/** Letters in one transaction. */
const SLICE = 200;

/** The events that the server would not take: listed, sent once more, or given up, by the host's decision. */
export const createDeadLetters = (store: Store, ledger: Ledger) => {
  const read = async (): Promise<(Kept & { reason: string })[]> =>
    (await store.entries<DeadRecord>(DEAD_RANGE)).flatMap(([key, record]) => {
      const event = readEvent(record?.event);
      const [, , time, sequence] = key as EventKey;
      return typeof event === 'string'
        ? []
        : [{ key: ['event', VERSION, time, sequence], event, reason: record.reason }];
    });

  /** Answers the letters that really moved. */
  const move = async (wanted: string[] | undefined, back: boolean): Promise<Kept[]> => {
    const letters = (await read()).filter(({ key }) => wanted?.includes(keyText(key)) ?? true);
    const moved: Kept[] = [];
    for (let from = 0; from < letters.length; from += SLICE) {
      const slice = letters.slice(from, from + SLICE);
      const there = await ledger.step(
        slice.map(({ key }) => deadKey(key)),
        (meta, records) => {
          const found = slice.filter((_, i) => records[i] !== undefined);
          meta.deadLetters -= found.length;
          if (back) meta.events += found.length;
          else meta.discarded += found.length;
          for (const { event } of found) if (!back) meta.bytes -= bytesOf(event);
          return {
            writes: found.flatMap(({ key, event }) => [
              [deadKey(key), undefined],
              ...(back ? [[key, { ...event, attempts: 0 }] as [EventKey, unknown]] : []),
            ]),
            result: found,
          };
        },
      );
      moved.push(...(there ?? []));
    }
    return moved;
  };

  return {
    list: async (): Promise<DeadLetter[]> =>
      (await read()).map(({ key, event, reason }) => ({
        key: keyText(key),
        event: bannerEvent(event),
        reason,
        attempts: event.attempts,
      })),
    /** Back to their places in the queue, as if they had never been sent. */
    retry: (keys?: string[]) => move(keys, true),
    discard: (keys?: string[]) => move(keys, false),
  };
};
