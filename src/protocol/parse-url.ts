/** The URL, or `undefined` where the text is none. `URL.canParse` and `URL.parse` are too young for the browsers we run in. */
export const parseUrl = (text: string, base?: string): URL | undefined => {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
};
