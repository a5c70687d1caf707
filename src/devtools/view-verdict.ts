import type { SlotState } from '../client/index.ts';
import type { Verdict } from './verdict.ts';

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** A banner is drawn: says whether its impression is counted, and what it waits for. */
export const viewVerdict = ({ element, view }: SlotState, share: number): Verdict => {
  const notSeen = (why: string): Verdict => ({ tone: 'wait', title: 'Not seen yet', why });
  if (!view) return notSeen('This browser has no IntersectionObserver, so no impression is counted.');
  if (view.isSeen) return { tone: 'good', title: 'Seen', why: 'Shown, and its impression is taken.' };
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
