/** Throws for a mistyped option and for a word too many: the parser passes over both. */
export const refuseUnknown = (
  given: Record<string, unknown>,
  known: Record<string, { type: string }>,
): void => {
  // The parser gives `--some-name` under `someName` too.
  const written = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const isKnown = (name: string) => Object.hasOwn(known, name) || Object.hasOwn(known, written(name));
  const unknown = Object.keys(given).filter((name) => name !== '_' && !isKnown(name));
  if (unknown.length > 0) {
    const options = Object.keys(known).map((name) => `--${name}`);
    throw new Error(`there is no option --${unknown[0]}; the options are ${options.join(', ')}`);
  }
  // A pattern such as `workspaces/*.json` gives several words: a person would believe that all files were read.
  const words = given['_'] as string[];
  const expected = Object.values(known).filter(({ type }) => type === 'positional').length;
  if (words.length > expected) throw new Error(`"${words[expected]}" is one word too many; nothing was done`);
};

/** A port as text: 0 to 65,535. */
export const portOf = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Error(`--port must be a number from 0 to 65535, got "${text}"`);
  return port;
};
