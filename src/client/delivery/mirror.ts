import { type EventKey, type Kept, keyText } from './records.ts';

/** More than a last flush can carry; older ones are left to whoever reads the store. */
const MOST_EVENTS = 1_600;

/**
 * What this tab captured and nobody has delivered yet, in memory: a page that goes away cannot wait for the disk. It
 * may name events that are gone; sending one again is harmless to a service that counts each event once.
 */
export const createMirror = () => {
  const waiting = new Map<string, Kept>();
  const taken = new Set<string>();
  return {
    add(kept: Kept[]) {
      for (const item of kept) waiting.set(keyText(item.key), item);
      for (const oldest of waiting.keys()) {
        if (waiting.size <= MOST_EVENTS) break;
        waiting.delete(oldest);
      }
    },
    /** Part of a batch now. */
    take(keys: EventKey[]) {
      for (const key of keys) waiting.delete(keyText(key));
    },
    /** On its way into a batch that is perhaps not on disk yet; answers the function that ends this. */
    hold(keys: EventKey[]) {
      const texts = keys.map(keyText);
      for (const text of texts) {
        waiting.delete(text);
        taken.add(text);
      }
      return () => {
        for (const text of texts) taken.delete(text);
      };
    },
    isHeld: (key: EventKey) => taken.has(keyText(key)),
    waiting: () => [...waiting.values()],
    clear: () => waiting.clear(),
  };
};

export type Mirror = ReturnType<typeof createMirror>;
