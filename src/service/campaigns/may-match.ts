import { getOwn, type Tally } from '../profiles/profile.ts';
import { type Asker, daysSince } from './audience-document.ts';

/** Reads what an audience document has at a path, without making the document. */
type ReadPath = (asker: Asker, nowMs: number) => unknown;

const step = (value: unknown, name: string): unknown => {
  // What is behind an array is any of its elements: that is for the library to find.
  if (value === undefined || value === null || Array.isArray(value)) return value;
  return (value as Record<string, unknown>)[name];
};

const inside = (root: ReadPath, steps: readonly string[]): ReadPath => {
  const [only = ''] = steps;
  // Nearly every path is that of a member or of a custom attribute.
  if (steps.length === 0) return root;
  if (steps.length === 1) return (asker, nowMs) => step(root(asker, nowMs), only);
  return (asker, nowMs) => steps.reduce(step, root(asker, nowMs));
};

/** The numbers of what was done; its dates are the library's to compare. */
const readEvent = (kind: 'events' | 'purchases', name: string, member: string): ReadPath | null => {
  const read =
    (number: (tally: Tally & { revenue?: number }, nowMs: number) => unknown): ReadPath =>
    ({ profile }, nowMs) => {
      const tally = profile ? getOwn<Tally>(profile[kind], name) : undefined;
      return tally && number(tally, nowMs);
    };
  if (member === 'count') return read(({ count }) => count);
  if (member === 'first_days_ago') return read(({ first }, nowMs) => daysSince(first, nowMs));
  if (member === 'last_days_ago') return read(({ last }, nowMs) => daysSince(last, nowMs));
  return member === 'revenue' && kind === 'purchases' ? read(({ revenue }) => revenue) : null;
};

const ROOTS: Record<string, ReadPath> = {
  external_id: ({ externalId }) => externalId,
  braze_id: ({ profile }) => profile && String(profile.userId),
  email: ({ profile }) => profile?.email,
  phone: ({ profile }) => profile?.phone,
  app_id: ({ appId }) => appId,
  app_version: ({ appVersion }) => appVersion,
  custom_attributes: ({ profile }) => profile?.custom,
};

/** Members that are made for the library alone. */
const LISTS = ['user_aliases', 'event_list', 'purchase_list'];

/** `null` for a path that only the document itself can answer. */
export const readPath = (path: string): ReadPath | null => {
  const [head = '', ...rest] = path.split('.');
  const [first = '', second = ''] = rest;
  if (head === 'events' || head === 'purchases') {
    return rest.length === 2 ? readEvent(head, first, second) : null;
  }
  if (head === 'subscription_groups') {
    return rest.length === 1
      ? ({ profile }) => (profile ? getOwn(profile.subscriptionGroups, first)?.state : undefined)
      : null;
  }
  if (LISTS.includes(head)) return null;
  const root = Object.hasOwn(ROOTS, head) ? ROOTS[head]! : ({ profile }: Asker) => profile?.standard[head];
  return inside(root, rest);
};

type Comparison = '$gt' | '$gte' | '$lt' | '$lte';

/** A comparison of what is at a path with texts, numbers or booleans: with some of them, or with one number. */
type Check = { path: string; read: ReadPath } & (
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

const isComparison = (operator: string): operator is Comparison => Object.hasOwn(HOLDS, operator);

/** Whether a value is no single one: the library must judge it. */
export const isOpen = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

const mayHold = (check: Check, value: unknown): boolean => {
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
  return isComparison(operator) && typeof operand === 'number'
    ? { path, read, comparison: operator, bound: operand }
    : null;
};

/** Fewer users pass a clause with fewer texts than one with more, and most bounds let many through. */
const breadth = (clause: Clause): number =>
  clause.reduce((sum, check) => sum + ('among' in check ? check.among.size : 100), 0);

const narrowest = (clauses: readonly Clause[]): Clause | undefined =>
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
export const mayMatch = (clauses: readonly Clause[], asker: Asker, nowMs: number): boolean => {
  // Loops, as it runs for every campaign of every sync: `every` and `some` cost half as much again.
  for (const clause of clauses) {
    let holds = false;
    for (const check of clause) {
      if (!mayHold(check, check.read(asker, nowMs))) continue;
      holds = true;
      break;
    }
    if (!holds) return false;
  }
  return true;
};
