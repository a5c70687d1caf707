import { isPausing } from '../../platform/waits.ts';
import type { DeadLetter, DeliveryContext, Diagnostics } from '../delivery.ts';
import type { Log } from './log.ts';
import {
  bannerEvent,
  DEAD_RANGE,
  type DeadRecord,
  deadKey,
  isAlone,
  isEventKey,
  isLive,
  isNewer,
  keyText,
  kindOf,
  type QueuedEvent,
  queueKey,
  readEvent,
  TOTALS,
  VERSION,
  WHOLE_RANGE,
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
export const createDeadLetters = ({ notify }: DeliveryContext, log: Log) => {
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
    /** Moves letters back to their positions in the queue, as if they had never been sent. */
    retry: (keys?: string[]) => move(keys, true),
    async discard(keys?: string[]): Promise<void> {
      for (const { event } of await move(keys, false)) {
        notify({ type: 'dropped', event: bannerEvent(event), reason: 'discarded' });
      }
    },
  };
};

/**
 * Says where every event is at one moment. Nothing counts the captured events as they come: their number is the sum of the events that have
 * left the log and of those that are still there.
 */
export const readDiagnostics = async ({ tab, clock }: DeliveryContext, log: Log): Promise<Diagnostics> => {
  const now = clock.now();
  const { control, claims, records } = await log.overview(WHOLE_RANGE);
  const over = new Set(claims.filter((each) => !isLive(each, now)).flatMap(({ keys }) => keys.map(keyText)));
  let events = 0;
  let inDoubt = 0;
  let deadLetters = 0;
  for (const [key, record] of records) {
    if (isNewer(record)) continue;
    if (kindOf(key) === 'dead') deadLetters += 1;
    if (kindOf(key) !== 'event') continue;
    events += 1;
    const isOver = isEventKey(key) && over.has(keyText(key));
    if (isOver || readEvent(record)?.doubt !== undefined) inDoubt += 1;
  }
  const { delivered, discarded, evicted, expired, purged, wait } = control;
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
    memoryMode: log.place.isMemory(),
    sender: claims.some((claim) => claim.tab === tab && isAlone(claim, now)),
    waitingUntil: isPausing(wait, now) ? wait.until : null,
  };
};
