import type { Store } from '../client/index.ts';

/** Fault of a store operation. */
export type StoreFault =
  /** Does nothing and rejects with a `DOMException` of this name, such as `QuotaExceededError`. */
  | { type: 'reject'; error: string }
  /** Does nothing and never settles. */
  | { type: 'hang' }
  /** Commits and rejects, as if the connection was lost after the commit. */
  | { type: 'lose-answer'; error?: string }
  /** Runs after `until` resolves. */
  | { type: 'wait'; until: Promise<unknown> };

/** Store operations. */
export type StoreVerb = keyof Store;

export interface FaultyStore extends Store {
  /**
   * Injects a fault into the next `times` calls (default 1) of these operations (default all). Returns a function that lifts it.
   */
  fail: (fault: StoreFault, scope?: { verbs?: StoreVerb[]; times?: number }) => () => void;
  /** Lifts all faults. */
  recover: () => void;
  /** Operations called so far, in order. */
  calls: StoreVerb[];
}

interface Armed {
  fault: StoreFault;
  verbs: StoreVerb[] | undefined;
  left: number;
}

const failure = (name: string): DOMException => new DOMException(`Failed by the test: ${name}`, name);

const never = (): Promise<never> => new Promise(() => undefined);

/** Wraps a store with fault injection. Without a fault, calls pass through. */
export const createFaultyStore = (store: Store): FaultyStore => {
  const calls: StoreVerb[] = [];
  let armed: Armed[] = [];

  const take = (verb: StoreVerb): StoreFault | undefined => {
    const entry = armed.find(({ verbs }) => verbs?.includes(verb) ?? true);
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left <= 0) armed = armed.filter((other) => other !== entry);
    return entry.fault;
  };

  const run = async <T>(verb: StoreVerb, work: () => Promise<T>): Promise<T> => {
    calls.push(verb);
    const fault = take(verb);
    if (fault?.type === 'reject') throw failure(fault.error);
    if (fault?.type === 'hang') return never();
    if (fault?.type === 'wait') await fault.until;
    const result = await work();
    if (fault?.type === 'lose-answer') throw failure(fault.error ?? 'UnknownError');
    return result;
  };

  return {
    calls,
    entries: (range) => run('entries', () => store.entries(range)),
    get: (key) => run('get', () => store.get(key)),
    setMany: (records) => run('setMany', () => store.setMany(records)),
    deleteMany: (keys) => run('deleteMany', () => store.deleteMany(keys)),
    update: (keys, change) => run('update', () => store.update(keys, change)),
    clear: () => run('clear', () => store.clear()),
    fail(fault, { verbs, times = 1 } = {}) {
      const entry = { fault, verbs, left: times };
      armed.push(entry);
      return () => {
        armed = armed.filter((other) => other !== entry);
      };
    },
    recover() {
      armed = [];
    },
  };
};
