import { type Context, type FilterImplOptions, type Liquid, filters as library } from 'liquidjs';
import { parseDate } from '../users/dates.ts';
import { Float, isFloat, lengthOf, searchCost, textOf, writtenLength } from './liquid-values.ts';
import { type Budget, COST } from './render-budget.ts';

/** What a filter is called on. */
interface Call {
  context: Context;
}
type Filter = (this: Call, value: unknown, ...given: unknown[]) => unknown;

const LONGEST_RANGE = 1e15;

/** The whole number that a text begins with, or a number without what is behind its point; else 0. */
const integerOf = (value: unknown): number => {
  const number = Math.trunc(typeof value === 'string' ? Number.parseInt(value, 10) : Number(value));
  return Math.min(LONGEST_RANGE, Math.max(-LONGEST_RANGE, Number.isNaN(number) ? 0 : number));
};

const NUMBER = /^\s*[-+]?\d+(\.\d+)?/;

/** A value as a number, as the reference implementation of Liquid reads it: `'3 pieces'` is 3, what is none is 0. */
const numberOf = (value: unknown): number | Float => {
  if (typeof value === 'number' || value instanceof Float) return value;
  if (typeof value !== 'string') return 0;
  const [text, fraction] = NUMBER.exec(value) ?? ['0'];
  return fraction === undefined ? Number(text) : made(Number(text), true);
};

const made = (value: number, float: boolean): number | Float =>
  float && Number.isInteger(value) ? new Float(value) : value;

/** Of whole numbers the result is a whole number. */
const arithmetic =
  (compute: (one: number, other: number, float: boolean) => number): Filter =>
  (value, given) => {
    const [one, other] = [numberOf(value), numberOf(given)];
    const float = isFloat(one) || isFloat(other);
    return made(compute(Number(one), Number(other), float), float);
  };

const notZero = (divisor: number): number => {
  if (divisor === 0) throw new Error('divided by 0');
  return divisor;
};

const whole =
  (compute: (value: number) => number): Filter =>
  (value) =>
    compute(Number(numberOf(value)));

const MATH: Record<string, Filter> = {
  abs: (value) => {
    const number = numberOf(value);
    return made(Math.abs(Number(number)), isFloat(number));
  },
  at_least: (value, given) => {
    const [one, other] = [numberOf(value), numberOf(given)];
    return Number(other) > Number(one) ? other : one;
  },
  at_most: (value, given) => {
    const [one, other] = [numberOf(value), numberOf(given)];
    return Number(other) < Number(one) ? other : one;
  },
  ceil: whole(Math.ceil),
  floor: whole(Math.floor),
  plus: arithmetic((one, other) => one + other),
  minus: arithmetic((one, other) => one - other),
  times: arithmetic((one, other) => one * other),
  divided_by: arithmetic((one, other, float) => (float ? one / other : Math.floor(one / notZero(other)))),
  modulo: arithmetic((one, other, float) => {
    const divisor = float ? other : notZero(other);
    return one - divisor * Math.floor(one / divisor);
  }),
};

/** liquidjs reads a text without a zone in the machine's. Here it is UTC, on whatever machine (contract 3.8). */
const inUtc = (filter: Filter): Filter =>
  function (value, ...given) {
    const moment = typeof value === 'string' ? parseDate(value) : null;
    return filter.call(this, moment === null ? value : new Date(moment), ...given);
  };

const DATES = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'];
/** They look at a list and not into its entries. */
const SHALLOW = new Set(
  'default first last size concat push unshift pop shift slice compact reverse uniq sample where reject has find find_index group_by map'.split(
    ' ',
  ),
);
/** They compute or compare something for each entry. */
const EACH = new Set('where reject has find find_index group_by map sum sort sort_natural'.split(' '));
const SEARCHES = new Set(
  'split replace replace_first replace_last remove remove_first remove_last'.split(' '),
);

/** What a filter costs before it writes anything. */
const costOf = (name: string, value: unknown, given: unknown[], budget: Budget): number => {
  const entries = lengthOf(value);
  const read = SHALLOW.has(name) && typeof value !== 'string' ? 0 : writtenLength(value, budget);
  const asked = given.reduce<number>((sum, each) => sum + writtenLength(each, budget), 0);
  let cost = entries * COST.element + (read + asked) * COST.letter;
  if (EACH.has(name)) cost += entries * (COST.token + asked * COST.letter);
  if (name.startsWith('sort')) cost += (entries * COST.element + read) * Math.log2(entries + 1);
  if (SEARCHES.has(name)) cost += searchCost(read, textOf(given[0]).length);
  if (DATES.includes(name)) cost += COST.date * (2 + textOf(given[0]).split('%').length);
  return cost;
};

const charged = (name: string, filter: Filter): FilterImplOptions =>
  function* (this: Call, value: unknown, ...given: unknown[]) {
    const budget = this.context.memoryLimit as unknown as Budget;
    budget.use(COST.filter + costOf(name, value, given, budget));
    const result: unknown = yield filter.apply(this, [value, ...given]);
    budget.use(typeof result === 'string' ? result.length * COST.letter : lengthOf(result) * COST.element);
    return result;
  } as never;

/** Every filter of the library at its cost, but those that read a template of their own (`where_exp`), and our own in their place. */
export const registerFilters = (liquid: Liquid): void => {
  for (const [name, filter] of Object.entries({ ...library, ...MATH })) {
    if (name.endsWith('_exp')) delete liquid.filters[name];
    else if (typeof filter === 'function') {
      const ours = DATES.includes(name) ? inUtc(filter as Filter) : (filter as Filter);
      liquid.registerFilter(name, charged(name, ours));
    }
  }
  liquid.registerFilter('bound of a range', integerOf);
};
