import { recall, remember } from './memory.ts';
import { makeMovable } from './movable.ts';
import { node, setAttribute, setText } from './node.ts';
import type { Sentence } from './tone.ts';

/** A window over the page: it can be moved, made small, and closed. */
export const createWindow = (content: readonly Node[], signal: AbortSignal, close: () => void) => {
  const summary = node('span', { class: 'summary' });
  const smallSummary = node('span', { class: 'summary' });
  const unseen = (text: string) => node('span', { class: 'unseen' }, [text]);
  const handle = node('button', { type: 'button', class: 'handle' }, [
    'Placard',
    summary,
    unseen(': drag, or press the arrow keys, to move'),
  ]);
  const smaller = node(
    'button',
    { type: 'button', class: 'icon', 'aria-label': 'Make the devtools small', 'data-icon': 'smaller' },
    [],
    { click: () => setSmall(true) },
  );
  const closing = node(
    'button',
    { type: 'button', class: 'icon', 'aria-label': 'Close the devtools', 'data-icon': 'close' },
    [],
    { click: close },
  );
  const whole = node('div', { class: 'whole' }, [
    node('div', { class: 'bar' }, [handle, smaller, closing]),
    ...content,
  ]);
  const small = node(
    'button',
    { type: 'button', class: 'small' },
    ['Placard', smallSummary, unseen(': open the devtools')],
    { click: () => setSmall(false) },
  );
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
      for (const each of [summary, smallSummary]) {
        setText(each, text);
        setAttribute(each, 'data-tone', tone);
      }
    },
  };
};
