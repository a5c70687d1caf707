import { recall, remember } from './memory.ts';

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
 * Lets a fixed element be moved by a handle, with the pointer or the arrow keys, and keeps it inside of the window. It hangs
 * on the right and the bottom edge, so that it stays in its corner when the window changes.
 */
export const makeMovable = (element: HTMLElement, handle: HTMLElement, signal: AbortSignal): void => {
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
    // Where it ended up, so that the next step begins there.
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
  // The element has another size when it is made small, and the window when it is turned.
  const resized = new ResizeObserver(place);
  resized.observe(element);
  resized.observe(document.documentElement);
  addEventListener('resize', place, { signal });
  signal.addEventListener('abort', () => resized.disconnect());
};
