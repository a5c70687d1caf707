/** Unicode isolates (LRI and PDI) around left-to-right text. */
const OPEN = '\u2066';
const CLOSE = '\u2069';
const MARKS = /[\u2066\u2069]/g;
/** Liquid markup. Unclosed markup ends at the end of the text. */
const MARKUP = /\{\{(?:[^}]|\}(?!\}))*(?:\}\})?|\{%(?:[^%]|%(?!\}))*(?:%\})?/g;
/** Right-to-left scripts, for example Hebrew and Arabic. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Returns a text for editing. Isolates Liquid in right-to-left text, so that its braces keep their position. */
export const isolateMarkup = (text: string): string =>
  RIGHT_TO_LEFT.test(text) ? text.replace(MARKUP, (markup) => OPEN + markup + CLOSE) : text;

/** Removes the isolates. */
export const withoutIsolates = (shown: string): string => shown.replace(MARKS, '');

/** Converts an offset in the text to an offset in the displayed text. */
export const shownOffset = (shown: string, offset: number): number => {
  let rest = offset;
  for (let at = 0; at < shown.length; at += 1) {
    if (shown[at] === OPEN || shown[at] === CLOSE) continue;
    if (rest === 0) return at;
    rest -= 1;
  }
  return shown.length;
};
