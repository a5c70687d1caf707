import { computed, type Signal, signal } from '@preact/signals';

/** Maximum time between changes of a field that form one undo step. */
const STEP_MS = 1_000;
const MAX_STEPS = 100;

/** Moves the current value to `to` and returns the last value of `from`; `undefined` if `from` is empty. */
const step = <Value>(from: Signal<Value[]>, to: Signal<Value[]>, now: Value): Value | undefined => {
  const found = from.value.at(-1);
  if (found === undefined) return undefined;
  from.value = from.value.slice(0, -1);
  to.value = [...to.value, now];
  return found;
};

/** Creates an undo and redo history. */
export const createUndoStack = <Value>() => {
  const past = signal<Value[]>([]);
  const future = signal<Value[]>([]);
  let last = { mark: '', at: 0 };
  return {
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
    /** Records the value before a change. Consecutive changes with the same `mark` are one step. */
    keep(before: Value, mark = '') {
      const at = Date.now();
      const isSameStep = mark !== '' && mark === last.mark && at - last.at < STEP_MS;
      last = { mark, at };
      if (!isSameStep) past.value = [...past.value.slice(-MAX_STEPS), before];
      future.value = [];
    },
    /** Clears the history. */
    forget() {
      past.value = [];
      future.value = [];
    },
    back: (now: Value) => step(past, future, now),
    forth: (now: Value) => step(future, past, now),
  };
};
