import { type FilterImplOptions, type Liquid, filters as library } from 'liquidjs';
import { isRecord } from '../../protocol/index.ts';
import { parseDate } from '../users/dates.ts';
import { countEntries, Float, isFloat, searchCost, toText, writtenLength } from './liquid-values.ts';
import { type Budget, COST } from './render-budget.ts';

/** Type of `this` in a filter. */
type Call = ThisParameterType<Extract<FilterImplOptions, (...given: never[]) => unknown>>;
type Filter = (this: Call, value: unknown, ...given: unknown[]) => unknown;

const ofLibrary = (name: string): Filter => {
  const filter = library[name];
  if (typeof filter !== 'function') throw new Error(`liquidjs has no filter ${name}`);
  return filter;
};
const SPLIT = ofLibrary('split');
const DEFAULT = ofLibrary('default');
const SUM = ofLibrary('sum');
const ROUND = ofLibrary('round');

const LONGEST_RANGE = 1e15;

/** Returns the leading integer of a string, or a number truncated to an integer; 0 for other values. */
const toInteger = (value: unknown): number => {
  const number = Math.trunc(typeof value === 'string' ? Number.parseInt(value, 10) : Number(value));
  return Math.min(LONGEST_RANGE, Math.max(-LONGEST_RANGE, Number.isNaN(number) ? 0 : number));
};

const NUMBER = /^\s*[-+]?\d+(\.\d+)?/;

/** Converts a value to a number as in the reference implementation of Liquid, where `'3 pieces'` is 3 and a non-number is 0. */
const toNumber = (value: unknown): number | Float => {
  if (typeof value === 'number' || value instanceof Float) return value;
  if (typeof value !== 'string') return 0;
  const [text, fraction] = NUMBER.exec(value) ?? ['0'];
  return fraction === undefined ? Number(text) : made(Number(text), true);
};

const made = (value: number, float: boolean): number | Float =>
  float && Number.isInteger(value) ? new Float(value) : value;

/** Creates an arithmetic filter. The result of two integers is an integer. */
const arithmetic =
  (compute: (one: number, other: number, float: boolean) => number): Filter =>
  (value, given) => {
    const [one, other] = [toNumber(value), toNumber(given)];
    const float = isFloat(one) || isFloat(other);
    return made(compute(Number(one), Number(other), float), float);
  };

/** Flattens a list deeply. The budget has already counted its entries. */
const flat = (list: unknown[]): unknown[] => list.flat(Number.POSITIVE_INFINITY);

/** Compares arguments so that positional ones come first, because `allow_false: true` may precede the value. */
const valuesFirst = (one: unknown, other: unknown): number =>
  Number(Array.isArray(one)) - Number(Array.isArray(other));

const lengthOfText = (value: unknown): number =>
  typeof value === 'string' ? value.length : value === null ? 0 : countEntries(value);

/** Rounds to a decimal, as in the reference implementation, where 10.1 minus 2.2 is 7.9, not 7.8999999999999995. */
const decimal = (number: number): number => Number(number.toPrecision(15));

const notZero = (divisor: number): number => {
  if (divisor === 0) throw new Error('divided by 0');
  return divisor;
};

const whole =
  (compute: (value: number) => number): Filter =>
  (value) =>
    compute(Number(toNumber(value)));

const MATH: Record<string, Filter> = {
  abs: (value) => {
    const number = toNumber(value);
    return made(Math.abs(Number(number)), isFloat(number));
  },
  at_least: (value, given) => {
    const [one, other] = [toNumber(value), toNumber(given)];
    return Number(other) > Number(one) ? other : one;
  },
  at_most: (value, given) => {
    const [one, other] = [toNumber(value), toNumber(given)];
    return Number(other) < Number(one) ? other : one;
  },
  ceil: whole(Math.ceil),
  floor: whole(Math.floor),
  plus: arithmetic((one, other) => decimal(one + other)),
  minus: arithmetic((one, other) => decimal(one - other)),
  times: arithmetic((one, other) => decimal(one * other)),
  round(value, digits) {
    const places = toInteger(digits);
    const number = Number(toNumber(value));
    const rounded = Number(ROUND.call(this, number, places));
    return made(rounded, places > 0 && isFloat(toNumber(value)));
  },
  divided_by: arithmetic((one, other, float) => (float ? one / other : Math.floor(one / notZero(other)))),
  modulo: arithmetic((one, other, float) => {
    const divisor = float ? other : notZero(other);
    return decimal(one - divisor * Math.floor(one / divisor));
  }),
};

/** Makes a filter read a date without a zone as UTC (contract 3.8). liquidjs would use the machine's zone. */
const inUtc = (filter: Filter): Filter =>
  function (value, ...given) {
    const moment = typeof value === 'string' ? parseDate(value) : null;
    return filter.call(this, moment === null ? value : new Date(moment), ...given);
  };

/** Minimum and maximum number of arguments of each Liquid filter. */
const VALUES: readonly [least: number, most: number, names: string][] = [
  [
    0,
    0,
    'abs ceil floor upcase downcase capitalize escape escape_once lstrip rstrip strip strip_html strip_newlines newline_to_br url_encode url_decode size reverse first last base64_encode base64_decode base64_url_safe_encode base64_url_safe_decode',
  ],
  [
    1,
    1,
    'at_least at_most plus minus times divided_by modulo append prepend concat remove remove_first remove_last split map',
  ],
  [0, 1, 'join round sort sort_natural uniq compact sum default'],
  [0, 2, 'truncate truncatewords'],
  [1, 2, 'slice where reject has find find_index replace replace_first date'],
  [2, 2, 'replace_last'],
];
const VALUES_OF = new Map(
  VALUES.flatMap(([least, most, names]) => names.split(' ').map((name) => [name, { least, most }] as const)),
);

/** Throws if a filter has too few or too many arguments, because its output would be wrong. */
export const checkValues = (name: string, given: number): void => {
  const takes = VALUES_OF.get(name);
  if (!takes || (given >= takes.least && given <= takes.most)) return;
  const range = takes.least === takes.most ? `${takes.most}` : `${takes.least} to ${takes.most}`;
  throw new Error(`filter "${name}" takes ${range} values, got ${given}`);
};

/** Replacements of text filters that the library implements differently from Liquid. */
const TEXTS: Record<string, Filter> = {
  url_encode: (value) =>
    encodeURIComponent(toText(value).toWellFormed())
      .replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%20', '+'),
  base64_url_safe_encode: (value) =>
    Buffer.from(toText(value)).toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
  base64_url_safe_decode: (value) => Buffer.from(toText(value), 'base64url').toString(),
  split(value, given) {
    // A single space splits at any run of whitespace.
    if (given === ' ')
      return toText(value)
        .trim()
        .split(/\s+/)
        .filter((part) => part !== '');
    return SPLIT.call(this, value, given);
  },
  size: (value) => (typeof value === 'object' || typeof value === 'string' ? lengthOfText(value) : 0),
  default(value, ...given) {
    const isEmptyObject = isRecord(value) && !(value instanceof Float) && countEntries(value) === 0;
    return DEFAULT.call(this, isEmptyObject ? '' : value, ...given.toSorted(valuesFirst));
  },
  join: (value, ...given) => {
    const separator = given.length === 0 ? ' ' : toText(given[0]);
    return (Array.isArray(value) ? flat(value) : [value]).map(toText).join(separator);
  },
  concat: (value, given) => {
    if (!Array.isArray(given)) throw new Error('concat needs a list');
    return [...flat(Array.isArray(value) ? value : value == null ? [] : [value]), ...given];
  },
  sum(value, given) {
    return SUM.call(this, Array.isArray(value) ? flat(value) : value, given);
  },
};

const DATES = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'];
/** Filters that read a list but not its entries. */
const SHALLOW = new Set(
  'default first last size push unshift pop shift slice compact reverse uniq sample where reject has find find_index group_by map'.split(
    ' ',
  ),
);
/** Filters that compute or compare a value for each entry. */
const EACH = new Set('where reject has find find_index group_by map sum sort sort_natural'.split(' '));
const SEARCHES = new Set(
  'split replace replace_first replace_last remove remove_first remove_last'.split(' '),
);

/** Returns the cost of a filter, without its output. */
const getFilterCost = (
  name: string,
  value: unknown,
  given: unknown[],
  budget: Pick<Budget, 'use'>,
): number => {
  const entries = countEntries(value);
  const read = SHALLOW.has(name) && typeof value !== 'string' ? 0 : writtenLength(value, budget);
  const asked = given.reduce<number>((sum, each) => sum + writtenLength(each, budget), 0);
  let cost = entries * COST.element + (read + asked) * COST.character;
  if (EACH.has(name)) cost += entries * (COST.token + asked * COST.character);
  if (name.startsWith('sort')) cost += (entries * COST.element + read) * Math.log2(entries + 1);
  if (SEARCHES.has(name)) cost += searchCost(read, toText(given[0]).length);
  if (DATES.includes(name)) cost += COST.date * (2 + toText(given[0]).split('%').length);
  return cost;
};

const charged = (name: string, filter: Filter): FilterImplOptions =>
  function* (value: unknown, ...given: unknown[]) {
    const budget = this.context.memoryLimit;
    budget.use(COST.filter + getFilterCost(name, value, given, budget));
    const result: unknown = yield filter.apply(this, [value, ...given]);
    budget.use(
      typeof result === 'string' ? result.length * COST.character : countEntries(result) * COST.element,
    );
    return result;
  };

/**
 * Registers the library's filters with their costs, and our replacements. Excludes filters that evaluate a template, such as
 * `where_exp`.
 */
export const registerFilters = (liquid: Liquid): void => {
  for (const [name, filter] of Object.entries({ ...library, ...MATH, ...TEXTS })) {
    if (name.endsWith('_exp')) delete liquid.filters[name];
    else if (typeof filter === 'function') {
      liquid.registerFilter(name, charged(name, DATES.includes(name) ? inUtc(filter) : filter));
    }
  }
  liquid.registerFilter('bound of a range', toInteger);
};
