import type { StoreKey } from '../../platform/store.ts';
import type { DeadLetter, DeliveryContext } from '../delivery.ts';
import { SCHEMA_VERSION } from '../limits.ts';
import type { Log } from '../log/log.ts';
import type { DeadRecord, EventKey, QueuedEvent, Writes } from '../log/records.ts';
import type { SharedFunctions } from './shared-functions.ts';

/** A dead letter keeps its queue position in its key. */
const deadKey = ([, ...position]: EventKey): StoreKey => ['dead', ...position];
const queueKey = ([, ...position]: EventKey): EventKey => ['event', ...position];

/** Dead letter with its queue key. */
interface QueuedDeadLetter extends QueuedEvent {
  reason: string;
}

/** Returns the writes that move an event to the dead letters. */
export const toDeadLetter = ({ key, event }: QueuedEvent, reason: string): Writes => {
  const {
    rejection: _rejection,
    correctionLeaseUntil: _lease,
    notBefore: _notBefore,
    inDoubtClaimId: _claim,
    ...letter
  } = event;
  const record: DeadRecord = { v: SCHEMA_VERSION, event: letter, reason };
  return [
    [key, undefined],
    [deadKey(key), record],
  ];
};

/** Creates the API for dead letters: list, retry and discard. */
export const createDeadLetters = (
  { bannerEvent, formatKey, toRange }: SharedFunctions,
  { notify }: DeliveryContext,
  log: Log,
) => {
  const read = async (): Promise<QueuedDeadLetter[]> => {
    const letters: QueuedDeadLetter[] = [];
    for await (const letter of log.read(toRange('dead'))) {
      if (letter.event) letters.push({ ...letter, key: queueKey(letter.key) });
    }
    return letters;
  };

  /** Moves the chosen dead letters. Returns those that moved, because another tab may have moved some before. */
  const move = async (keys: string[] | undefined, isBack: boolean): Promise<QueuedEvent[]> => {
    const chosen = (await read()).filter(({ key }) => keys?.includes(formatKey(key)) ?? true);
    let moved: QueuedDeadLetter[] = [];
    await log.transact(
      chosen.map(({ key }) => deadKey(key)),
      (state, records) => {
        moved = chosen.filter((_, i) => records[i] !== undefined);
        if (moved.length === 0) return null;
        if (!isBack) state.discarded += moved.length;
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
        key: formatKey(key),
        event: bannerEvent(event),
        reason,
        attempts: event.attempts,
      })),
    retry: (keys?: string[]) => move(keys, true),
    async discard(keys?: string[]): Promise<void> {
      for (const { event } of await move(keys, false)) {
        notify({ type: 'dropped', event: bannerEvent(event), reason: 'discarded' });
      }
    },
  };
};
