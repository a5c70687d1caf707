import type { FailureKind, Inspection, PlacementState, SlotState } from '../client/index.ts';
import { getBannerName, relativeTime, type Tone } from './words.ts';

/** State of a slot, with an explanation. */
export interface SlotStatus {
  tone: Tone;
  /** Title of two or three words. */
  title: string;
  /** Explanation, with the action to take. */
  why: string;
}

const toStatus = (tone: Tone, title: string, why: string): SlotStatus => ({ tone, title, why });

const NOT_MOUNTED =
  'No element is mounted for this placement. Use placard.mount() or <Placement> with this ID.';
const NO_BANNER =
  'No active campaign of this placement (check its spelling) targets this user, or a cap or a dismissal blocks it. To find out why, run the command below with a server key.';
const FOCUSED = 'Shown even if dismissed or expired. Its events are not sent.';
const HELD_OUT =
  'This user is in the control group. No content is sent or rendered, and the impression is counted.';
const WAITS_CLOSED = 'The empty slot is in view. It opens when it is out of view, to avoid a layout shift.';
const NOT_SWAPPED = 'The change waits until this slot is out of view.';

/** Failures that can end a sync. */
const SYNC_FAILURES: ReadonlySet<FailureKind> = new Set(['sync', 'unauthorized', 'not-found', 'protocol']);

/** Returns the reason that the last sync failed; `null` if it succeeded, or no sync has ended. */
const failedSync = ({ recent }: Inspection): string | null => {
  const last = recent
    .map(({ notice }) => notice)
    .filter(
      (notice) => notice.type === 'synced' || (notice.type === 'failed' && SYNC_FAILURES.has(notice.kind)),
    )
    .at(-1);
  return last?.type === 'failed' ? last.message : null;
};

/** Explains the missing response. */
const unanswered = (inspection: Inspection, now: number): SlotStatus => {
  const { recent, syncWaitsUntil } = inspection;
  const misused = recent
    .map(({ notice }) => notice)
    .filter((notice) => notice.type === 'failed' && notice.kind === 'config')
    .at(-1);
  const reason = failedSync(inspection) ?? (misused?.type === 'failed' ? misused.message : '');
  const isAnswering = recent.some(({ notice }) => notice.type === 'synced');
  if (syncWaitsUntil !== null) {
    const next = `Next request ${relativeTime(syncWaitsUntil, now)}.`;
    return toStatus('bad', 'No response', reason === '' ? next : `${next} ${reason}`);
  }
  if (isAnswering) {
    const why = 'The service responded for other placements. Check that the workspace has this one.';
    return toStatus('bad', 'No response', why);
  }
  return toStatus('wait', 'No response yet', 'The first request is pending.');
};

const formatProblems = ({ issues }: SlotState): string => {
  const lines = issues.map(({ message, path = [] }) => {
    const names = path.map((step) => String(typeof step === 'object' ? step.key : step));
    return names.length > 0 ? `${names.join('.')}: ${message}` : message;
  });
  return lines.join('; ') || 'The hook threw. See the error in the console or log';
};

/** Explains an empty slot. */
const emptyStatus = (placement: PlacementState, slot: SlotState, inspection: Inspection, now: number) => {
  const { banner, isExpired, isDismissed, snoozedUntil, isHidden } = placement;
  if (isHidden)
    return toStatus('wait', 'Dismissed', 'Dismissed in the sandbox. Restored when the sandbox ends.');
  if (slot.emptyReason === 'invalid')
    return toStatus(
      'bad',
      'Invalid banner',
      `${formatProblems(slot)}. Change the campaign’s properties or the hook.`,
    );
  if (banner?.isControl) return toStatus('plain', 'Control group', HELD_OUT);
  if (banner && isExpired)
    return toStatus('plain', 'Expired', `The banner expired ${relativeTime(banner.expiresAt!, now)}.`);
  if (slot.emptyReason === 'blocked')
    return toStatus(
      'wait',
      'Blocked by the page',
      'shouldShow() returned false. Call reevaluate() to check again.',
    );
  if (snoozedUntil !== null)
    return toStatus(
      'plain',
      'Snoozed',
      `The user snoozed the banner. It may return ${relativeTime(snoozedUntil, now)}.`,
    );
  if (banner && slot.emptyReason === null)
    return toStatus('wait', 'Waiting', 'The hook’s check or shouldShow() is pending.');
  if (banner) return toStatus('wait', 'Waiting', WAITS_CLOSED);
  if (isDismissed)
    return toStatus('plain', 'Dismissed', 'The user dismissed this banner. Another one may be shown.');
  if (banner === null) return toStatus('plain', 'No banner', NO_BANNER);
  return unanswered(inspection, now);
};

const percent = (share: number): string => `${Math.round(share * 100)}%`;

/** Explains whether the impression of a rendered banner was counted, and the condition that it waits for. */
const viewStatus = ({ element, view }: SlotState, share: number): SlotStatus => {
  const notSeen = (why: string) => toStatus('wait', 'Not seen yet', why);
  if (!view) return notSeen('This browser has no IntersectionObserver, so no impression is counted.');
  if (view.isSeen) return toStatus('good', 'Seen', 'Shown, impression counted.');
  const { width, height } = element.getBoundingClientRect();
  if (width * height === 0)
    return notSeen('The slot has no size. Avoid display: none and display: contents.');
  if (view.isBusy) return notSeen('The slot has aria-busy="true": its content is still loading.');
  if (view.isInvisible)
    return notSeen(
      'Nothing in the slot is visible. Check what the hook renders, and its display, visibility and opacity.',
    );
  if (share === 0) return notSeen('Out of view. Scroll to it.');
  if (share < view.requiredShare)
    return notSeen(`${percent(share)} in view, ${percent(view.requiredShare)} required.`);
  if (view.isCovered) return notSeen('Covered by another element; it may be this window.');
  const [dwell, required] = [view.dwellMs, view.requiredMs].map((ms) => (ms / 1_000).toFixed(1));
  return notSeen(`In view for ${dwell} of ${required} s.`);
};

/**
 * Explains the content of a slot. Returns `null` for a placement without a slot. `share` is the visible share of the slot, 0 to
 * 1.
 */
export const getSlotStatus = (
  placement: PlacementState,
  slot: SlotState | null,
  { inspection, share, now }: { inspection: Inspection; share: number; now: number },
): SlotStatus => {
  if (!inspection.isActive)
    return toStatus('bad', 'Off', 'No consent, or the client was stopped. Call enable() to start.');
  if (inspection.userId === null)
    return toStatus('plain', 'Signed out', 'No user is signed in. Call identify() with a user ID.');
  if (slot === null) return toStatus('plain', 'Not mounted', NOT_MOUNTED);
  const { shown } = slot;
  if (shown === null) return emptyStatus(placement, slot, inspection, now);
  if (placement.isFocused) return toStatus('wait', 'Focused', FOCUSED);
  if (shown.isControl) return toStatus('plain', 'Control group', HELD_OUT);
  // A test send takes precedence over the response.
  if (!shown.isTestSend && placement.banner?.id !== shown.id) {
    const next = placement.banner ? `“${getBannerName(placement.banner)}” is next.` : 'No banner is next.';
    return toStatus('wait', 'Shown', `${next} ${NOT_SWAPPED}`);
  }
  const seen = viewStatus(slot, share);
  const failed = failedSync(inspection);
  return failed === null
    ? seen
    : toStatus('bad', seen.title, `Cached, because the last sync failed: ${failed} ${seen.why}`);
};
