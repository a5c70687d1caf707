import type { Store } from '../client/index.ts';

/** What goes wrong with one verb of a store. */
export type StoreFault =
  /** Nothing is done; rejects with a `DOMException` of this name, such as `QuotaExceededError`. */
  | { type: 'reject'; error: string }
  /** Nothing is done, and no answer ever comes. */
  | { type: 'hang' }
  /** Done, but the answer is an error: the connection was lost after the commit. */
  | { type: 'lose-answer'; error?: string }
  /** Done when `until` resolves. */
  | { type: 'wait'; until: Promise<unknown> };

/** The verbs of a store. */
export type StoreVerb = keyof Store;

export interface FaultyStore extends Store {
  /** What happens to the next `times` calls (default 1) of these verbs (default all); answers the function that lifts it. */
  fail: (fault: StoreFault, scope?: { verbs?: StoreVerb[]; times?: number }) => () => void;
  /** Lifts every fault. */
  recover: () => void;
  /** Verbs called so far. */
  calls: StoreVerb[];
}

interface Armed {
  fault: StoreFault;
  verbs: StoreVerb[] | undefined;
  left: number;
}

const failure = (name: string): DOMException => new DOMException(`Failed by the test: ${name}`, name);

const never = (): Promise<never> => new Promise(() => undefined);

/** Wraps any store; without a fault it is that store. */
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
