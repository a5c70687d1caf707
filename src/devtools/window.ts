import { recall, remember } from './memory.ts';
import { button, node, setAttribute, setText } from './node.ts';
import type { Sentence } from './words.ts';

const EDGE = 4;
const STEP = 16;
const LARGE_STEP = 64;
const ARROWS: Record<string, readonly [x: number, y: number]> = {
  ArrowLeft: [1, 0],
  ArrowRight: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/**
 * Makes a fixed element movable by a handle, with the pointer or arrow keys, and keeps it inside the window. Positioned from the
 * right and bottom edges, so that it stays in its corner on resize.
 */
const makeMovable = (element: HTMLElement, handle: HTMLElement, signal: AbortSignal): void => {
  let { x, y } = recall();

  const place = (): void => {
    const { offsetWidth: width, offsetHeight: height } = element;
    const { clientWidth, clientHeight } = document.documentElement;
    const within = (value: number, room: number) => Math.max(EDGE, Math.min(value, room - EDGE));
    element.style.right = `${within(x, clientWidth - width)}px`;
    element.style.bottom = `${within(y, clientHeight - height)}px`;
  };

  const moveTo = (nextX: number, nextY: number): void => {
    [x, y] = [nextX, nextY];
    place();
    // Reads the clamped position, so that the next step starts there.
    x = Number.parseFloat(element.style.right);
    y = Number.parseFloat(element.style.bottom);
    remember({ x, y });
  };

  handle.addEventListener(
    'pointerdown',
    (event) => {
      if (event.button !== 0) return;
      const from = { x: x + event.clientX, y: y + event.clientY };
      handle.setPointerCapture(event.pointerId);
      const drag = new AbortController();
      const move = ({ clientX, clientY }: PointerEvent) => moveTo(from.x - clientX, from.y - clientY);
      handle.addEventListener('pointermove', move, { signal: drag.signal });
      for (const end of ['pointerup', 'pointercancel'] as const)
        handle.addEventListener(end, () => drag.abort(), { signal: drag.signal });
    },
    { signal },
  );
  handle.addEventListener(
    'keydown',
    (event) => {
      const arrow = ARROWS[event.key];
      if (!arrow) return;
      event.preventDefault();
      const step = event.shiftKey ? LARGE_STEP : STEP;
      moveTo(x + arrow[0] * step, y + arrow[1] * step);
    },
    { signal },
  );
  // The element's size changes when minimized, and the window's size on rotation.
  const resized = new ResizeObserver(place);
  resized.observe(element);
  resized.observe(document.documentElement);
  addEventListener('resize', place, { signal });
  signal.addEventListener('abort', () => resized.disconnect());
};

/** Creates a window over the page that can be moved, minimized and closed. */
export const createWindow = (content: readonly Node[], signal: AbortSignal, close: () => void) => {
  const summaries: HTMLElement[] = [];
  /** Creates a visible label, and a description of the button for screen readers. */
  const createLabel = (purpose: string): (Node | string)[] => {
    const summary = node('span', { class: 'summary' });
    summaries.push(summary);
    return ['Placard', summary, node('span', { class: 'unseen' }, [purpose])];
  };
  const handle = button(createLabel(': drag or use the arrow keys to move'), () => undefined, {
    class: 'handle',
  });
  const small = button(createLabel(': open the devtools'), () => setSmall(false), { class: 'small' });
  const icon = (name: string, label: string, click: () => void) =>
    button([], click, { class: 'icon', 'data-icon': name, 'aria-label': label });
  const whole = node('div', { class: 'whole' }, [
    node('div', { class: 'bar' }, [
      handle,
      icon('smaller', 'Minimize devtools', () => setSmall(true)),
      icon('close', 'Close devtools', close),
    ]),
    ...content,
  ]);
  const element = node('section', { class: 'window', 'aria-label': 'Placard devtools' }, [whole, small], {
    keydown(event) {
      if (event.key !== 'Escape' || whole.hidden) return;
      // Stops the event, so that a dialog of the page stays open.
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
    // Moves focus, because the pressed button is hidden.
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
