import type { PlacementHook } from '../client/index.ts';

/** A hook that always follows the latest one, so that an inline function does not mount anew on each render. */
export const followHook = (latest: () => PlacementHook): PlacementHook => {
  /** Whose check took its time: that hook draws, since a later one could not say at once what fits. */
  let slow: PlacementHook | undefined;
  const follow: PlacementHook = (banner, slot) => (slow ?? latest())(banner, slot);
  const { check, empty, invalid } = latest();
  // Only the parts that exist: a placement that draws something when it is empty is not collapsed.
  if (check) {
    follow.check = (banner) => {
      const hook = latest();
      const problems = hook.check?.(banner) ?? [];
      slow = typeof (problems as Partial<PromiseLike<unknown>>).then === 'function' ? hook : undefined;
      return problems;
    };
  }
  if (empty) follow.empty = (slot) => latest().empty?.(slot);
  if (invalid) follow.invalid = (problems, slot) => latest().invalid?.(problems, slot);
  return follow;
};
