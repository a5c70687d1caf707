import { button, node, setAttribute, setText } from './node.ts';
import type { Outline } from './outline.ts';

const INSERTIONS = ['before', 'after', 'prepend', 'append'];
/** Press events to suppress. Not touch events, because canceling them prevents the click. */
const PRESSES = ['pointerdown', 'pointerup', 'mousedown', 'mouseup', 'click'];

/** Returns the matches of a selector; `null` if the selector is invalid. */
const findAll = (selector: string): readonly Element[] | null => {
  try {
    return [...document.querySelectorAll(selector)];
  } catch {
    return null;
  }
};

/** Returns a short unique selector for an element: by ID, then class or `data-` attribute, then position. */
const findSelector = async (element: Element): Promise<string> => {
  const { attr, finder } = await import('@medv/finder');
  return finder(element, {
    // Other attributes, such as URLs and labels, are excluded, because they change with the content.
    attr: (name, value) => name.startsWith('data-') && attr(name, value),
    timeoutMs: 300,
  });
};

const describeMatches = (found: readonly Element[] | null): string => {
  if (found === null) return 'Invalid selector.';
  if (found.length === 0) return 'No matches on this page.';
  return found.length === 1 ? 'One match.' : `${found.length} matches; the first is used.`;
};

interface PlaceViewOptions {
  /** Host of the panel, whose own elements cannot be picked. */
  host: Element;
  outline: Outline;
}

/** Creates the view that picks an element of the page, and generates the workspace file entry for a placement there. */
export const createPlaceView = ({ host, outline }: PlaceViewOptions) => {
  let pointing: AbortController | undefined;
  /** Reason that the picked element has no selector. */
  let problem = '';
  const point = button(['Pick element'], () => (pointing ? stop() : start()));
  const selector = node('input', { type: 'text', spellcheck: 'false', autocapitalize: 'off' }, [], {
    input: () => draw(),
  });
  const insert = node(
    'select',
    {},
    INSERTIONS.map((name) => node('option', {}, [name])),
    { input: () => draw() },
  );
  insert.value = 'after';
  const words = node('p', { class: 'why', role: 'status' });
  const lines = node('pre', { class: 'command' });
  const element = node('div', { class: 'view' }, [
    node('p', { class: 'why' }, ['Pick an element, then copy the lines to the workspace file.']),
    point,
    node('label', {}, ['Selector', selector]),
    words,
    node('label', {}, ['Insert', insert]),
    lines,
  ]);

  const draw = (): void => {
    setAttribute(point, 'aria-pressed', String(!!pointing));
    setText(point, pointing ? 'Click an element, or press Escape' : 'Pick element');
    const isEmpty = selector.value.trim() === '';
    lines.hidden = isEmpty;
    setText(words, isEmpty ? problem : describeMatches(findAll(selector.value)));
    const members = { selector: selector.value.trim(), insert: insert.value, paths: [location.pathname] };
    setText(
      lines,
      Object.entries(members)
        .map(([name, value]) => `"${name}": ${JSON.stringify(value)}`)
        .join(',\n'),
    );
  };

  const stop = (): void => {
    pointing?.abort();
    pointing = undefined;
    outline.hide();
    draw();
  };

  const choose = async (chosen: Element): Promise<void> => {
    stop();
    problem = '';
    selector.value = await findSelector(chosen).catch((cause) => {
      problem = `No selector found: ${cause}`;
      return '';
    });
    draw();
    if (!problem) outline.show(chosen, selector.value);
  };

  const start = (): void => {
    pointing = new AbortController();
    const options = { signal: pointing.signal, capture: true };
    /** Suppresses an event, which could follow a link or submit a form, and returns its target. */
    const target = (event: Event): Element | null => {
      if (event.composedPath().includes(host)) return null;
      event.preventDefault();
      event.stopImmediatePropagation();
      return event.target instanceof Element ? event.target : null;
    };
    for (const type of PRESSES)
      addEventListener(
        type,
        (event) => {
          const pressed = target(event);
          if (pressed && type === 'click') void choose(pressed);
        },
        { ...options, passive: false },
      );
    addEventListener(
      'pointermove',
      (event) => {
        const { target: over } = event;
        if (over instanceof Element && !event.composedPath().includes(host))
          outline.show(over, over.localName);
      },
      options,
    );
    addEventListener(
      'keydown',
      (event) => {
        if (event.key !== 'Escape') return;
        event.stopImmediatePropagation();
        stop();
      },
      options,
    );
    draw();
  };

  draw();
  return { element, update: draw, stop };
};
