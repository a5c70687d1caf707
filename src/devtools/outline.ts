import { node, setText } from './node.ts';

const MARGIN = 4;

/** Creates an outline around a slot. The outline ignores the pointer, so that the slot does not count as covered. */
export const createOutline = () => {
  const label = node('span');
  const element = node('div', { class: 'outline', hidden: true, 'aria-hidden': 'true' }, [label]);
  let target: Element | null = null;
  let frame = 0;

  const follow = (): void => {
    if (!target) return;
    const { left, top, width, height } = target.getBoundingClientRect();
    Object.assign(element.style, {
      left: `${left - MARGIN}px`,
      top: `${top - MARGIN}px`,
      width: `${width + 2 * MARGIN}px`,
      height: `${height + 2 * MARGIN}px`,
    });
    frame = requestAnimationFrame(follow);
  };

  return {
    element,
    show(next: Element, name: string): void {
      cancelAnimationFrame(frame);
      target = next;
      setText(label, name);
      element.hidden = false;
      follow();
    },
    hide(): void {
      cancelAnimationFrame(frame);
      target = null;
      element.hidden = true;
    },
  };
};

export type Outline = ReturnType<typeof createOutline>;
