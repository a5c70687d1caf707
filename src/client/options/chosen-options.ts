import type { Notify } from '../notices.ts';

/** What a chosen value must be: a number within these bounds, both included, or one of these words. */
export type Rule = readonly [min: number, max: number] | readonly string[];

/** For bounds: what has no limit by its nature may be `Infinity`. */
export const UNBOUNDED = Number.POSITIVE_INFINITY;

/**
 * The host's choices over the defaults. A page without types may choose anything: what is unknown or cannot be used is
 * reported by its name, and the default holds. `undefined` is no choice: hosts pass on what they may not have.
 */
export const chosenOptions = <T extends object>(
  group: string,
  defaults: T,
  chosen: Partial<T> | undefined,
  notify: Notify,
  /** Default: a number from 1 up. */
  rules: { [Name in keyof T]?: Rule },
): T => {
  const options = { ...defaults };
  for (const [name, value] of Object.entries(chosen ?? {}) as [keyof T & string, unknown][]) {
    if (value === undefined) continue;
    const rule: Rule = Object.hasOwn(defaults, name) ? (rules[name] ?? [1, UNBOUNDED]) : [];
    const [min, max] = rule as [number, number];
    const isNumber = typeof min === 'number';
    // NaN is within no bounds.
    const isWithin = typeof value === 'number' && value >= min && value <= max;
    if (isNumber ? isWithin : rule.includes(value as never)) options[name] = value as never;
    else {
      const range = `a number from ${min} ${max === UNBOUNDED ? 'up' : `to ${max}`}`;
      const expected = isNumber ? range : rule.join(' or ') || 'left out: it is unknown';
      notify({ type: 'failed', kind: 'config', message: `Option "${group}${name}" must be ${expected}` });
    }
  }
  return options;
};
