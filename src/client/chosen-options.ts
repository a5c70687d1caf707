import type { Notify } from './notice.ts';

/** What a chosen value must be: a number of at least this one, or one of these words. */
export type Rule = number | string[];

/**
 * The host's choices over the defaults. A page without types may choose anything: what is unknown or cannot be used is
 * told by its name, and the default holds. `undefined` is no choice: hosts pass on what they may not have.
 */
export const chosenOptions = <T extends object>(
  group: string,
  defaults: T,
  chosen: Partial<T> | undefined,
  notify: Notify,
  /** Default: a number of at least 1. */
  rules: { [Name in keyof T]?: Rule },
): T => {
  const options = { ...defaults };
  for (const [name, value] of Object.entries(chosen ?? {}) as [keyof T & string, never][]) {
    if (value === undefined) continue;
    const rule: Rule = Object.hasOwn(defaults, name) ? (rules[name] ?? 1) : [];
    const isNumber = typeof rule === 'number';
    // NaN is at least nothing.
    if (isNumber ? typeof value === 'number' && value >= rule : rule.includes(value)) options[name] = value;
    else {
      const expected = isNumber ? `a number from ${rule} up` : rule.join(' or ') || 'left out: it is unknown';
      notify({ type: 'failed', kind: 'config', message: `Option "${group}${name}" must be ${expected}` });
    }
  }
  return options;
};
