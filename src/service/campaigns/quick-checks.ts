import type { Asker } from './audience-of.ts';
import { type ReadPath, readPath } from './read-path.ts';

type Comparison = '$gt' | '$gte' | '$lt' | '$lte';

/** A comparison of what is at a path with texts, numbers or booleans: with some of them, or with one number. */
export type Check = { path: string; read: ReadPath } & (
  | { among: ReadonlySet<unknown> }
  | { comparison: Comparison; bound: number }
);

/** Checks of which one must hold. */
export type Clause = readonly Check[];

type Filter = Record<string, unknown>;

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
const isFilter = (value: unknown): value is Filter =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const HOLDS: Record<Comparison, (value: number, bound: number) => boolean> = {
  $gt: (value, bound) => value > bound,
  $gte: (value, bound) => value >= bound,
  $lt: (value, bound) => value < bound,
  $lte: (value, bound) => value <= bound,
};

/** What is no single value may be any: that is for the library to judge. */
export const isOpen = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

export const mayHold = (check: Check, value: unknown): boolean => {
  if (isOpen(value)) return true;
  if ('among' in check) return check.among.has(value);
  return typeof value === 'number' && HOLDS[check.comparison](value, check.bound);
};

const checkOf = (path: string, operator: string, operand: unknown): Check | null => {
  const read = readPath(path);
  if (!read) return null;
  if (operator === '$eq' && isScalar(operand)) return { path, read, among: new Set([operand]) };
  if (operator === '$in' && Array.isArray(operand) && operand.every(isScalar)) {
    return { path, read, among: new Set(operand) };
  }
  if (!Object.hasOwn(HOLDS, operator) || typeof operand !== 'number') return null;
  return { path, read, comparison: operator as Comparison, bound: operand };
};

/** Fewer users pass a clause with fewer texts than one with more, and most bounds let many through. */
const breadth = (clause: Clause): number =>
  clause.reduce((sum, check) => sum + ('among' in check ? check.among.size : 100), 0);

export const narrowest = (clauses: readonly Clause[]): Clause | undefined =>
  clauses.toSorted((one, other) => breadth(one) - breadth(other))[0];

/**
 * What must hold of a user for a filter to match, as far as plain comparisons say so: every clause. Most campaigns are
 * not for most users, and most filters compare an attribute with a text or a number: what fails such a comparison
 * needs no more than that. Empty where the filter has no such part.
 */
export const clausesOf = (filter: Filter): Clause[] =>
  Object.entries(filter).flatMap(([name, condition]): Clause[] => {
    if (name === '$and' && Array.isArray(condition)) return condition.flatMap(clausesOf);
    if (name === '$or' && Array.isArray(condition)) {
      const branches = condition.map((each: Filter) => narrowest(clausesOf(each)));
      return branches.every((branch) => branch !== undefined) ? [branches.flat()] : [];
    }
    if (name.startsWith('$')) return [];
    const operators = isFilter(condition) ? Object.entries(condition) : [['$eq', condition] as const];
    return operators.flatMap(([operator, operand]) => {
      const check = checkOf(name, operator, operand);
      return check ? [[check]] : [];
    });
  });

/** False where the filter certainly does not match. */
export const mayMatch = (clauses: readonly Clause[], asker: Asker, nowMs: number): boolean =>
  clauses.every((clause) => clause.some((check) => mayHold(check, check.read(asker, nowMs))));
