import type { FailureKind, Inspection, PlacementState, SlotState } from '../client/index.ts';
import { getBannerName, relativeTime, type Tone } from './words.ts';

/** State of a slot, with an explanation. */
export interface Verdict {
  tone: Tone;
  /** Two or three words. */
  title: string;
  /** Explanation, and what to do about it. */
  why: string;
}

const verdict = (tone: Tone, title: string, why: string): Verdict => ({ tone, title, why });

const NOT_MOUNTED =
  'No element of this page shows this placement. Mount it: placard.mount() or <Placement>, with this very ID.';
const NO_BANNER =
  'The service has no banner for this user here. No active campaign names this placement (is it spelt so?) or targets them, its time is over, or a cap or a dismissal holds it back. placard explain tells which: run the command below with a server key.';
const FOCUSED = 'Shown in spite of all that speaks against it. None of its events is sent.';
const HELD_OUT =
  'This user is in the control group. Nothing is drawn and no content was sent; the impression counts for the comparison.';
const WAITS_CLOSED =
  'A banner is there, and the closed slot is in view. It opens when it is out of view, so that nothing moves under the reader’s eyes.';
const NOT_SWAPPED =
  'No banner is swapped under the reader’s eyes: the change waits until this slot is out of view.';

/** Failures that can end a sync. */
const OF_A_SYNC: ReadonlySet<FailureKind> = new Set(['sync', 'unauthorized', 'not-found', 'answer']);

/** Why the last sync failed; `null` if it succeeded, or none has ended. */
const failedSync = ({ recent }: Inspection): string | null => {
  const last = recent
    .map(({ notice }) => notice)
    .filter((notice) => notice.type === 'synced' || (notice.type === 'failed' && OF_A_SYNC.has(notice.kind)))
    .at(-1);
  return last?.type === 'failed' ? last.message : null;
};

/** Explains why there is no response yet. */
const unanswered = (inspection: Inspection, now: number): Verdict => {
  const { recent, syncWaitsUntil } = inspection;
  const misused = recent
    .map(({ notice }) => notice)
    .filter((notice) => notice.type === 'failed' && notice.kind === 'config')
    .at(-1);
  const reason = failedSync(inspection) ?? (misused?.type === 'failed' ? misused.message : '');
  const isAnswering = recent.some(({ notice }) => notice.type === 'synced');
  if (syncWaitsUntil !== null) {
    const next = `The next request goes ${relativeTime(syncWaitsUntil, now)}.`;
    return verdict('bad', 'No response', reason === '' ? next : `${next} ${reason}`);
  }
  if (isAnswering) {
    const why = 'The service answered for other placements. Check that its workspace has this one.';
    return verdict('bad', 'No response', why);
  }
  return verdict('wait', 'No response yet', 'The first request is pending.');
};

const formatProblems = ({ problems }: SlotState): string => {
  const lines = problems.map(({ message, path = [] }) => {
    const names = path.map((step) => String(typeof step === 'object' ? step.key : step));
    return names.length > 0 ? `${names.join('.')}: ${message}` : message;
  });
  return lines.join('; ') || 'The hook threw. The console and the log have its error';
};

/** Explains why a slot is empty. */
const emptyVerdict = (placement: PlacementState, slot: SlotState, inspection: Inspection, now: number) => {
  const { answer, isExpired, isDismissed, snoozedUntil, isHidden } = placement;
  if (isHidden)
    return verdict('wait', 'Dismissed', 'Sent away in the sandbox. It is back when the sandbox ends.');
  if (slot.emptied === 'invalid')
    return verdict(
      'bad',
      'Does not fit',
      `${formatProblems(slot)}. Change the campaign’s properties or the hook.`,
    );
  if (answer?.isControl) return verdict('plain', 'Held out', HELD_OUT);
  if (answer && isExpired)
    return verdict('plain', 'Expired', `The banner ended ${relativeTime(answer.expiresAt!, now)}.`);
  if (slot.emptied === 'held')
    return verdict(
      'wait',
      'Held back',
      'mayShow() of this page keeps it away, until reconsider() or refresh().',
    );
  if (snoozedUntil !== null)
    return verdict(
      'plain',
      'Snoozed',
      `The user put the banner off. It may be back ${relativeTime(snoozedUntil, now)}.`,
    );
  if (answer && slot.emptied === null)
    return verdict('wait', 'Waits', 'The hook’s check has not answered yet, or mayShow() has not.');
  if (answer) return verdict('wait', 'Waits', WAITS_CLOSED);
  if (isDismissed)
    return verdict('plain', 'Dismissed', 'The user sent this banner away. Another one may show here.');
  if (answer === null) return verdict('plain', 'No banner', NO_BANNER);
  return unanswered(inspection, now);
};

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Explains whether the impression of a rendered banner was counted, and what it waits for. */
const viewVerdict = ({ element, view }: SlotState, share: number): Verdict => {
  const notSeen = (why: string) => verdict('wait', 'Not seen yet', why);
  if (!view) return notSeen('This browser has no IntersectionObserver, so no impression is counted.');
  if (view.isSeen) return verdict('good', 'Seen', 'Shown, and its impression is taken.');
  const { width, height } = element.getBoundingClientRect();
  if (width * height === 0)
    return notSeen(
      'The slot has no size. Give its element a box: display: none and display: contents have none.',
    );
  if (view.isBusy) return notSeen('The slot has aria-busy="true": its content is still loading.');
  if (view.isInvisible)
    return notSeen(
      'Nothing in the slot can be seen. Check what the hook draws, and its display, visibility and opacity.',
    );
  if (share === 0) return notSeen('Out of view. Scroll to it.');
  if (share < view.requiredShare)
    return notSeen(`${percent(share)} is in view, and ${percent(view.requiredShare)} must be.`);
  if (view.isCovered)
    return notSeen('Something lies on top of it. Move what covers it; it may be this window.');
  const [dwell, required] = [view.dwellMs, view.requiredMs].map((ms) => (ms / 1_000).toFixed(1));
  return notSeen(`In view for ${dwell} of ${required} s without a break.`);
};

/**
 * Explains what a slot shows, and why; `null` for a placement without a slot. `share` is the visible share of the slot, 0 to 1.
 */
export const getVerdict = (
  placement: PlacementState,
  slot: SlotState | null,
  { inspection, share, now }: { inspection: Inspection; share: number; now: number },
): Verdict => {
  if (!inspection.isActive)
    return verdict(
      'bad',
      'Off',
      'There is no consent, or the client was stopped. Call enable() to begin again.',
    );
  if (inspection.userId === null)
    return verdict('plain', 'Signed out', 'Nothing is shown without a user. Call identify() with a user ID.');
  if (slot === null) return verdict('plain', 'Not mounted', NOT_MOUNTED);
  const { shown } = slot;
  if (shown === null) return emptyVerdict(placement, slot, inspection, now);
  if (placement.isFocused) return verdict('wait', 'Focused', FOCUSED);
  if (shown.isControl) return verdict('plain', 'Held out', HELD_OUT);
  // A test send takes precedence over the response.
  if (!shown.isTestSend && placement.answer?.id !== shown.id) {
    const next = placement.answer
      ? `“${getBannerName(placement.answer)}” is next.`
      : 'No banner is here any more.';
    return verdict('wait', 'Shown', `${next} ${NOT_SWAPPED}`);
  }
  const seen = viewVerdict(slot, share);
  const failed = failedSync(inspection);
  return failed === null
    ? seen
    : verdict('bad', seen.title, `The last sync failed, and this is from the cache: ${failed} ${seen.why}`);
};
