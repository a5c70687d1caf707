import type { ReviewEntry } from '../../service/index.ts';

/** Returns the last entry that changed the state of a review; `null` if none. */
export const lastDecision = (review: readonly ReviewEntry[]): ReviewEntry | null =>
  review.findLast(({ action }) => action !== 'comment') ?? null;

interface Reviewed {
  revision: string | null;
  /** Last operator who saved the draft. */
  editor: string | null;
  review: readonly ReviewEntry[];
}

/** Returns whether another operator than the editor approved this revision. */
export const isApproved = ({ revision, editor, review }: Reviewed): boolean => {
  const decision = lastDecision(review);
  return decision?.action === 'approve' && decision.revision === revision && decision.operator !== editor;
};
