import { recall, remember } from './memory.ts';
import { makeMovable } from './movable.ts';
import { button, node, setAttribute, setText } from './node.ts';
import type { Sentence } from './tone.ts';

/** A window over the page: it can be moved, made small, and closed. */
export const createWindow = (content: readonly Node[], signal: AbortSignal, close: () => void) => {
  const summaries: HTMLElement[] = [];
  /** What the panel says in a few words, and what the button does for who cannot see it. */
  const labelOf = (purpose: string): (Node | string)[] => {
    const summary = node('span', { class: 'summary' });
    summaries.push(summary);
    return ['Placard', summary, node('span', { class: 'unseen' }, [purpose])];
  };
  const handle = button(labelOf(': drag, or press the arrow keys, to move'), () => undefined, {
    class: 'handle',
  });
  const small = button(labelOf(': open the devtools'), () => setSmall(false), { class: 'small' });
  const icon = (name: string, label: string, click: () => void) =>
    button([], click, { class: 'icon', 'data-icon': name, 'aria-label': label });
  const whole = node('div', { class: 'whole' }, [
    node('div', { class: 'bar' }, [
      handle,
      icon('smaller', 'Make the devtools small', () => setSmall(true)),
      icon('close', 'Close the devtools', close),
    ]),
    ...content,
  ]);
  const element = node('section', { class: 'window', 'aria-label': 'Placard devtools' }, [whole, small], {
    keydown(event) {
      if (event.key !== 'Escape' || whole.hidden) return;
      // A dialog of the page stays open.
      event.stopPropagation();
      setSmall(true);
    },
  });

  const draw = (isSmall: boolean): void => {
    whole.hidden = isSmall;
    small.hidden = !isSmall;
  };
  const setSmall = (isSmall: boolean): void => {
    draw(isSmall);
    remember({ isSmall });
    // The button that was pressed is gone.
    (isSmall ? small : handle).focus();
  };
  draw(recall().isSmall);
  makeMovable(element, handle, signal);

  return {
    element,
    isSmall: () => whole.hidden,
    summarise({ text, tone }: Sentence): void {
      setAttribute(element, 'data-tone', tone);
      for (const summary of summaries) setText(summary, text);
    },
  };
};
