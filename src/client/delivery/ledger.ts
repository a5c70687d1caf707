import type { Store, StoreKey } from '../platform/store.ts';
import { rebuildMeta } from './rebuild-meta.ts';
import { isMeta, META_KEY, type Meta, newMeta } from './records.ts';

/** What a step writes beside the meta record, and what it answers; `null` writes nothing at all. */
export type Step<R> = { writes: [StoreKey, unknown][]; result: R } | null;

/**
 * The outbox's one way to write: every step reads the meta record and what it needs, and writes records and counters
 * in the same transaction. So the counters agree with the records at every moment, over all tabs and crashes.
 */
export interface Ledger {
  /**
   * Runs one step; `undefined` where the store was wiped meanwhile, or where there is none yet and `create` is not
   * set. The step may change the meta record it is given.
   */
  step<R>(
    keys: StoreKey[],
    decide: (meta: Meta, values: unknown[]) => Step<R>,
    options?: { create?: boolean },
  ): Promise<R | undefined>;
  /** The meta record as this tab saw it last. */
  known(): Meta | undefined;
  /** Takes note of a meta record read elsewhere. */
  saw(meta: Meta | undefined): void;
  /** Another store begins (memory mode or its end), or consent was given anew: a missing record is no wipe. */
  restart(): void;
}

export interface LedgerOptions {
  store: Store;
  newId: () => string;
  /** Where the sequence of a new store begins. */
  firstSequence: () => number;
  /** The record that this tab knew is gone: somebody wiped the store. */
  onWiped: () => void;
  /** The stored choice is another than when it was last read, or an opt-out where none was read yet. */
  onConsent: (consent: Meta['consent']) => void;
}

export const createLedger = ({ store, newId, firstSequence, onWiped, onConsent }: LedgerOptions): Ledger => {
  let known: Meta | undefined;
  /** As it was stored: `known` may hold a choice that is only being written. */
  let consent: Meta['consent'] = 'enabled';

  const note = (meta: Meta | undefined): void => {
    known = meta;
    if (meta === undefined || meta.consent === consent) return;
    consent = meta.consent;
    onConsent(consent);
  };

  const step = async <R>(
    keys: StoreKey[],
    decide: (meta: Meta, values: unknown[]) => Step<R>,
    options: { create?: boolean } = {},
  ): Promise<R | undefined> => {
    const { create = false } = options;
    let result: R | undefined;
    let after: Meta | undefined;
    let wiped = false;
    let corrupt = false;
    await store.update<unknown>([META_KEY, ...keys], ([stored, ...values]) => {
      result = undefined;
      after = undefined;
      wiped = stored === undefined && known !== undefined;
      corrupt = stored !== undefined && !isMeta(stored);
      if (wiped || corrupt || (stored === undefined && !create)) return [];
      const meta = isMeta(stored) ? stored : newMeta(newId(), firstSequence());
      const step = decide(meta, values);
      // A record that was neither read nor written says nothing, least of all that the user agrees.
      if (step !== null || stored !== undefined) after = meta;
      if (step === null) return [];
      result = step.result;
      return [[META_KEY, meta], ...step.writes];
    });
    if (corrupt) {
      await rebuildMeta(store, newId());
      return step(keys, decide, options);
    }
    if (after !== undefined) note(after);
    if (wiped) onWiped();
    return result;
  };

  return {
    step,
    known: () => known,
    saw(meta) {
      if (meta === undefined && known !== undefined) onWiped();
      else note(meta);
    },
    restart() {
      // The choice stays: what is read next is compared with it.
      known = undefined;
    },
  };
};
