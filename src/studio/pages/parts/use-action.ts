import { useSignal } from '@preact/signals';
import { wordsOf } from '../call.ts';

/** Something that an operator does: whether it is under way, and in words why it failed. It runs once at a time. */
export const useAction = (act: () => Promise<void>) => {
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const run = async (): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    problem.value = null;
    try {
      await act();
    } catch (error) {
      problem.value = wordsOf(error);
    } finally {
      isBusy.value = false;
    }
  };
  return { problem, isBusy, run };
};
export type Action = ReturnType<typeof useAction>;
