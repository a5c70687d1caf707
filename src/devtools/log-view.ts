import { clockTime } from './duration.ts';
import type { HistoryEntry } from './history.ts';
import { node } from './node.ts';
import type { PanelState } from './panel-state.ts';
import { sentenceOf } from './sentence.ts';

const line = ({ at, notice }: HistoryEntry): HTMLElement => {
  const { text, tone } = sentenceOf(notice);
  return node('li', { 'data-tone': tone, 'data-notice': notice.type }, [
    node('time', {}, [clockTime(at)]),
    node('span', { dir: 'auto' }, [text]),
  ]);
};

/** What happened, the newest first. */
export const createLogView = () => {
  const element = node('ol', { class: 'lines' });
  let drawn: readonly HistoryEntry[] = [];
  return {
    element,
    update({ history }: PanelState): void {
      if (history === drawn) return;
      drawn = history;
      element.replaceChildren(...history.map(line).reverse());
    },
  };
};
