/** The first `length` code points, back to the end of a word where there is one, and an ellipsis. */
const shorten = (text: string, length: number): string => {
  const characters = Array.from(text);
  const kept = characters.slice(0, length).join('');
  const isWordEnd = /^\s?$/.test(characters[length] ?? '');
  return `${(isWordEnd ? kept : kept.replace(/\s\S*$/, '')).trimEnd()}…`;
};

/** Code points of a headline in a box that is too low for one line. */
const LEAST_LENGTH = 12;

/**
 * Shortens the texts of a panel whose height the page has set, the last one first, until every line is inside: a line that
 * the edge of the box cuts through cannot be read. A box that may grow shows its text whole.
 *
 * `-webkit-line-clamp` would need `overflow: hidden`, which cuts the letters of a tall font at the edge of their line. A
 * ResizeObserver would be an error event of the page in WebKit, which lays container queries out in two steps.
 */
export const fitTexts = (panel: HTMLElement, texts: HTMLElement[], signal: AbortSignal): void => {
  const { fonts, defaultView: view } = panel.ownerDocument;
  const content = panel.querySelector('.content')!;
  const parts = [...texts].reverse().map((element) => {
    const node = (element.firstElementChild ?? element).firstChild as Text;
    return { element, node, whole: node.data };
  });
  const overflows = () => {
    if (panel.clientHeight === 0) return false;
    const end =
      panel.getBoundingClientRect().bottom - Number.parseFloat(getComputedStyle(panel).paddingBottom);
    return content.getBoundingClientRect().bottom > end + 0.5;
  };

  const shortenTexts = () => {
    for (const { element, node, whole } of parts) {
      element.hidden = false;
      if (node.data !== whole) node.data = whole;
    }
    let isDropped = false;
    for (const { element, node, whole } of parts) {
      // Where the body has no line at all, the headline ends with its ellipsis.
      if (!overflows() && !isDropped) return;
      let [fitting, tooLong] = [0, Array.from(whole).length + 1];
      while (tooLong - fitting > 1) {
        const length = (fitting + tooLong) >> 1;
        node.data = shorten(whole, length);
        if (overflows()) tooLong = length;
        else fitting = length;
      }
      // Without its first text, which names it, the banner would say nothing.
      isDropped = fitting === 0 && element !== texts[0];
      element.hidden = isDropped;
      node.data = isDropped ? whole : shorten(whole, fitting || LEAST_LENGTH);
    }
  };

  shortenTexts();
  // The box got lower, or its text higher.
  const observer = new IntersectionObserver(shortenTexts, { root: panel, threshold: 1 });
  observer.observe(content);
  view?.addEventListener('resize', shortenTexts, { signal });
  fonts?.addEventListener('loadingdone', shortenTexts, { signal });
  signal.addEventListener('abort', () => observer.disconnect());
};
