import { computed, type Signal, signal } from '@preact/signals';

/** Changes of one field within so long are one step back. */
const STEP_MS = 1_000;
const MAX_STEPS = 100;

/** Takes the last value of `from`, and leaves what there is now with `to`. `undefined` where `from` has none. */
const step = <Value>(from: Signal<Value[]>, to: Signal<Value[]>, now: Value): Value | undefined => {
  const found = from.value.at(-1);
  if (found === undefined) return undefined;
  from.value = from.value.slice(0, -1);
  to.value = [...to.value, now];
  return found;
};

/** What there was before, to go back to and forth. */
export const createUndoStack = <Value>() => {
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
    back: (now: Value) => step(past, future, now),
    forth: (now: Value) => step(future, past, now),
  };
};
