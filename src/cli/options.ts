/** A mistyped option is told, where the parser would pass over it. */
export const refuseUnknown = (given: Record<string, unknown>, known: Record<string, unknown>): void => {
  const unknown = Object.keys(given).filter((name) => name !== '_' && !Object.hasOwn(known, name));
  if (unknown.length === 0) return;
  const options = Object.keys(known).map((name) => `--${name}`);
  throw new Error(`there is no option --${unknown[0]}; the options are ${options.join(', ')}`);
};

/** A port as text: 0 to 65,535. */
export const portOf = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Error(`--port must be a number from 0 to 65535, got "${text}"`);
  return port;
};
