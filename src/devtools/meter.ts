import type { ViewState } from '../client/index.ts';
import { node, setAttribute } from './node.ts';

const percent = (share: number): string => `${Math.round(Math.min(1, share) * 100)}%`;

/** The viewability rule as a bar: the share in view, a mark where enough begins, and under it the second that must pass. */
export const createMeter = () => {
  const share = node('span', { class: 'meter-share' });
  const mark = node('span', { class: 'meter-mark' });
  const dwell = node('span', { class: 'meter-dwell' });
  const element = node(
    'div',
    {
      class: 'meter',
      role: 'meter',
      'aria-label': 'Share in view',
      'aria-valuemin': '0',
      'aria-valuemax': '100',
    },
    [share, mark, dwell],
  );
  return {
    element,
    update(view: ViewState, inView: number): void {
      const done = view.isSeen ? 1 : view.dwellMs / view.requiredMs;
      share.style.width = percent(inView);
      mark.style.left = percent(view.requiredShare);
      dwell.style.width = percent(done);
      setAttribute(element, 'data-enough', inView >= view.requiredShare);
      setAttribute(element, 'aria-valuenow', String(Math.round(inView * 100)));
      const text = `${percent(inView)} in view, ${percent(view.requiredShare)} needed, for ${percent(done)} of the time`;
      setAttribute(element, 'aria-valuetext', text);
    },
  };
};
