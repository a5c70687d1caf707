import { type Context, defaultOperators } from 'liquidjs';
import { type Budget, COST } from './render-budget.ts';

type Operator = (left: unknown, right: unknown, context: Context) => Generator<unknown, boolean, boolean>;

/** Integral float. Liquid prints `10.0 | times: 2` as `20.0`. Other floats need no wrapper. */
export class Float extends Number {
  override toString() {
    const text = String(this.valueOf());
    return /[.e]|Inf|NaN/.test(text) ? text : `${text}.0`;
  }
}

export const isFloat = (value: unknown): boolean =>
  value instanceof Float || (typeof value === 'number' && !Number.isInteger(value));

const plain = (value: unknown): unknown => (value instanceof Float ? value.valueOf() : value);

/** Returns the number of entries or members of a value. */
export const countEntries = (value: unknown): number => {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 1;
};

/** Returns the approximate maximum length of a printed value. Nested lists print as one text. */
export const writtenLength = (
  value: unknown,
  budget: Pick<Budget, 'use'>,
  known = new Map<unknown, number>(),
): number => {
  if (typeof value === 'string') return value.length;
  if (!Array.isArray(value)) return 1;
  const before = known.get(value);
  if (before !== undefined) return before;
  budget.use(value.length * COST.element);
  let length = 0;
  // Adds 1 per entry, so that empty texts in a list count, too.
  for (const each of value) length += 1 + writtenLength(each, budget, known);
  known.set(value, length);
  return length;
};

/** Returns a value as printed. */
export const toText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.map(toText).join('') : String(value);
};

/** Returns the cost of a search, which compares the whole pattern at each position of the text in the worst case. */
export const searchCost = (text: number, pattern: number): number =>
  text * (1 + pattern / 64) * COST.character;

const getOperatorCost = (
  name: string,
  left: unknown,
  right: unknown,
  budget: Pick<Budget, 'use'>,
): number => {
  const lengths = [writtenLength(left, budget), writtenLength(right, budget)] as const;
  if (name === 'contains' && typeof left === 'string') return searchCost(...lengths);
  return (name === 'contains' ? lengths[0] : Math.min(...lengths)) * COST.character;
};

/** Returns the library's operators, wrapped to charge their cost to the render budget. */
export const registerOperators = (): typeof defaultOperators =>
  Object.fromEntries(
    Object.entries(defaultOperators).map(([name, library]) => {
      if (name === 'not') return [name, library];
      const operator: Operator = function* (left, right, context) {
        const budget = context.memoryLimit;
        budget.use(COST.token + getOperatorCost(name, left, right, budget));
        return yield library(plain(left), plain(right), context);
      };
      return [name, operator];
    }),
  );
