/** Returns the first `length` code points, cut at the last word boundary if any, with an ellipsis. */
const shorten = (text: string, length: number): string => {
  const characters = Array.from(text);
  const kept = characters.slice(0, length).join('');
  const isWordEnd = /^\s?$/.test(characters[length] ?? '');
  return `${(isWordEnd ? kept : kept.replace(/\s\S*$/, '')).trimEnd()}…`;
};

/** Minimum length of a headline in code points, if the box is too low for one line. */
const LEAST_LENGTH = 12;

/**
 * Truncates the texts of a panel with a fixed height, the last one first, until every line fits, because a clipped line is
 * unreadable. In a box that can grow, texts are shown in full.
 *
 * `-webkit-line-clamp` would need `overflow: hidden`, which clips glyphs of tall fonts. A ResizeObserver would cause an error
 * event in WebKit, which lays out container queries in two passes.
 */
export const fitTexts = (panel: HTMLElement, texts: HTMLElement[], signal: AbortSignal): void => {
  const { fonts, defaultView: view } = panel.ownerDocument;
  const content = panel.querySelector('.content')!;
  const parts = [...texts].reverse().map((element) => {
    const node = (element.firstElementChild ?? element).firstChild!;
    return { element, node, whole: node.textContent! };
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
      if (node.textContent !== whole) node.textContent = whole;
    }
    let isDropped = false;
    for (const { element, node, whole } of parts) {
      // If no line of the body fits, the headline ends with an ellipsis.
      if (!overflows() && !isDropped) return;
      let [fitting, tooLong] = [0, Array.from(whole).length + 1];
      while (tooLong - fitting > 1) {
        const length = (fitting + tooLong) >> 1;
        node.textContent = shorten(whole, length);
        if (overflows()) tooLong = length;
        else fitting = length;
      }
      // The first text names the banner, so it is never dropped.
      isDropped = fitting === 0 && element !== texts[0];
      element.hidden = isDropped;
      node.textContent = isDropped ? whole : shorten(whole, fitting || LEAST_LENGTH);
    }
  };

  shortenTexts();
  // Called if the box gets lower, or the text higher.
  const observer = new IntersectionObserver(shortenTexts, { root: panel, threshold: 1 });
  observer.observe(content);
  view?.addEventListener('resize', shortenTexts, { signal });
  fonts?.addEventListener('loadingdone', shortenTexts, { signal });
  signal.addEventListener('abort', () => observer.disconnect());
};
