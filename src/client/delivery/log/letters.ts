import { isPausing } from '../../platform/waits.ts';
import type { DeliveryContext } from '../context.ts';
import type { DeadLetter, Diagnostics } from '../delivery.ts';
import { TOTALS } from './control.ts';
import type { Log } from './log.ts';
import {
  bannerEvent,
  DEAD_RANGE,
  type DeadRecord,
  deadKey,
  EVENT_RANGE,
  isLive,
  keyText,
  type QueuedEvent,
  queueKey,
  VERSION,
  type Writes,
} from './records.ts';

/** An event that the server would not take, under the key that it had in the queue. */
interface Letter extends QueuedEvent {
  reason: string;
}

/** Moves an event to the dead letters. */
export const toDeadLetter = ({ key, event }: QueuedEvent, reason: string): Writes => {
  const { skip: _skip, asked: _asked, after: _after, doubt: _doubt, ...letter } = event;
  const record: DeadRecord = { v: VERSION, event: letter, reason };
  return [
    [key, undefined],
    [deadKey(key), record],
  ];
};

/** The events that the server would not take: listed, sent once more, or given up, by the host's decision. */
export const createDeadLetters = (log: Log) => {
  const read = async (): Promise<Letter[]> => {
    const letters: Letter[] = [];
    for await (const letter of log.read(DEAD_RANGE)) {
      if (letter.event) letters.push({ ...letter, key: queueKey(letter.key) });
    }
    return letters;
  };

  /** Returns the letters that really moved. */
  const move = async (keys: string[] | undefined, isBack: boolean): Promise<QueuedEvent[]> => {
    const chosen = (await read()).filter(({ key }) => keys?.includes(keyText(key)) ?? true);
    let moved: Letter[] = [];
    await log.step(
      chosen.map(({ key }) => deadKey(key)),
      (control, records) => {
        moved = chosen.filter((_, i) => records[i] !== undefined);
        if (moved.length === 0) return null;
        if (!isBack) control.discarded += moved.length;
        return moved.flatMap(({ key, event }): Writes => {
          const back: Writes = isBack ? [[key, { ...event, attempts: 0 }]] : [];
          return [[deadKey(key), undefined], ...back];
        });
      },
    );
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
    /** Back to their positions in the queue, as if they had never been sent. */
    retry: (keys?: string[]) => move(keys, true),
    discard: (keys?: string[]) => move(keys, false),
  };
};

/** A log that changes while it is counted is counted again, at most this often. */
const MAX_COUNTS = 3;

/**
 * Where every event is. What was captured is not counted as it comes: it is the sum of what has left the log and of what
 * is still there.
 */
export const readDiagnostics = async ({ tab, clock }: DeliveryContext, log: Log): Promise<Diagnostics> => {
  const now = clock.now();
  for (let counts = 1; ; counts += 1) {
    const { control, claims } = await log.overview();
    const over = new Set(
      claims.filter((each) => !isLive(each, now)).flatMap(({ keys }) => keys.map(keyText)),
    );
    let events = 0;
    let inDoubt = 0;
    let deadLetters = 0;
    for await (const { key, event } of log.read(EVENT_RANGE)) {
      events += 1;
      if (event && (event.doubt !== undefined || over.has(keyText(key)))) inDoubt += 1;
    }
    for await (const _ of log.read(DEAD_RANGE)) deadLetters += 1;
    const isChanged = JSON.stringify(await log.control()) !== JSON.stringify(control);
    if (isChanged && counts < MAX_COUNTS) continue;

    const { delivered, discarded, evicted, expired, purged, wait, claim } = control;
    return {
      captured: TOTALS.reduce((sum, total) => sum + control[total], events + deadLetters),
      delivered,
      pending: events - inDoubt,
      inDoubt,
      deadLetters,
      discarded,
      evicted,
      expired,
      purged,
      memoryMode: log.isMemory(),
      sender: claim?.tab === tab && isLive(claim, now),
      waitingUntil: isPausing(wait, now) ? wait.until : null,
    };
  }
};
