import { computed, signal } from '@preact/signals';

/** Changes of one field within so long are one step back. */
const STEP_MS = 1_000;
const MAX_STEPS = 100;

/** What there was before, to go back to and forth. */
export const createSteps = <Value>() => {
  const past = signal<Value[]>([]);
  const future = signal<Value[]>([]);
  let last = { mark: '', at: 0 };
  return {
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
    /** Keeps what is about to be changed. Changes with one `mark` that follow each other closely are one step. */
    keep(before: Value, mark = '') {
      const at = Date.now();
      const isSameStep = mark !== '' && mark === last.mark && at - last.at < STEP_MS;
      last = { mark, at };
      if (!isSameStep) past.value = [...past.value.slice(-MAX_STEPS), before];
      future.value = [];
    },
    /** Nothing from before is gone back to. */
    forget() {
      past.value = [];
      future.value = [];
    },
    /** The step before, in exchange for what there is now; `undefined` where there is none. */
    back(now: Value): Value | undefined {
      const before = past.value.at(-1);
      if (before === undefined) return undefined;
      past.value = past.value.slice(0, -1);
      future.value = [...future.value, now];
      return before;
    },
    forth(now: Value): Value | undefined {
      const after = future.value.at(-1);
      if (after === undefined) return undefined;
      future.value = future.value.slice(0, -1);
      past.value = [...past.value, now];
      return after;
    },
  };
};
