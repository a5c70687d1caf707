import type { Banner } from '../banner.ts';

/** What stands in front of a user's record, by placement; `null` hides what the record has. */
type Overlay = Map<string, Banner | null>;

/** A focused banner is a copy with an ID of its own: no event of it is ever stored, whatever happens to the original. */
const FOCUS = 'focus:';
export const focusOn = (banner: Banner): Banner => ({
  ...banner,
  id: FOCUS + banner.id,
  isControl: false,
  isTestSend: true,
  expiresAt: null,
});
export const isFocus = (bannerId: string): boolean => bannerId.startsWith(FOCUS);

/**
 * For the inspector, which gets them as options: for a function that two late chunks import, bundlers write a helper that
 * fails on pages where `Object.prototype` has members.
 */
export interface FocusVerbs {
  focusOn: typeof focusOn;
  isFocus: typeof isFocus;
}

/** The inspector put it there, and takes it away itself. */
const isInspectors = (front: Banner | null | undefined): boolean =>
  front === null || (front !== undefined && isFocus(front.id));

/** An answer replaces the test send of before. */
export const putTestSend = (overlay: Overlay, placementId: string, answer: Banner | null): void => {
  if (isInspectors(overlay.get(placementId))) return;
  if (answer?.isTestSend) overlay.set(placementId, answer);
  else overlay.delete(placementId);
};

/** A test send lasts as long as its session. */
export const dropTestSends = (overlay: Overlay): void => {
  for (const [placementId, front] of overlay) if (!isInspectors(front)) overlay.delete(placementId);
};
