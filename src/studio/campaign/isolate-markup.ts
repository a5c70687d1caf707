/** Begin and end of a run of left-to-right text that moves nothing around it (Unicode's isolates). */
const OPEN = '\u2066';
const CLOSE = '\u2069';
const MARKS = /[\u2066\u2069]/g;
/** What has no end yet runs to the end of the text. */
const MARKUP = /\{\{(?:[^}]|\}(?!\}))*(?:\}\})?|\{%(?:[^%]|%(?!\}))*(?:%\})?/g;
/** Hebrew, Arabic and their neighbours. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * A text as an editor shows it: in one that runs from right to left every piece of Liquid is isolated, so that its braces
 * stay where they were typed.
 */
export const isolateMarkup = (text: string): string =>
  RIGHT_TO_LEFT.test(text) ? text.replace(MARKUP, (markup) => OPEN + markup + CLOSE) : text;

/** The text itself again. */
export const withoutIsolates = (shown: string): string => shown.replace(MARKS, '');

/** Where a place of the text itself is in what is shown of it. */
export const shownOffset = (shown: string, offset: number): number => {
  let rest = offset;
  for (let at = 0; at < shown.length; at += 1) {
    if (shown[at] === OPEN || shown[at] === CLOSE) continue;
    if (rest === 0) return at;
    rest -= 1;
  }
  return shown.length;
};
