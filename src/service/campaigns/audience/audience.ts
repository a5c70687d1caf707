import { isRecord } from '../../../protocol/index.ts';
import { createIssue, type Issue, invalid, type ReportIssue } from '../../issues.ts';
import { getOwn } from '../../profiles/profile.ts';
import { readDate } from '../../users/dates.ts';
import {
  ANY,
  type AudienceContext,
  descend,
  isPersonal,
  type Located,
  locate,
  type Shape,
} from './fields.ts';
import { GROUPS, OPERATORS, patternBudget, type Quantified, VALUE_OPERATORS } from './operators.ts';

export type Filter = Record<string, unknown>;
type Path = readonly PropertyKey[];

const MAX_DEPTH = 20;
/** Maximum number of conditions of an audience, because each condition is evaluated for each user. */
const MAX_CONDITIONS = 1_000;

/** Whether a filter, including nested filters, has more members (conditions and groups) than an audience may have. */
const hasTooMany = (filter: unknown): boolean => {
  let conditions = 0;
  const left = [filter];
  while (left.length > 0 && conditions <= MAX_CONDITIONS) {
    const each = left.pop();
    if (typeof each !== 'object' || each === null) continue;
    const values = Object.values(each);
    if (!Array.isArray(each)) conditions += values.length;
    left.push(...values);
  }
  return conditions > MAX_CONDITIONS;
};

/** Returns the personal fields that a filter compares at any depth, with their operands. */
export const findPersonalIdentifiers = (filter: Filter): [field: string, operand: unknown][] =>
  Object.entries(filter).flatMap(([name, value]): [string, unknown][] => {
    if (name.startsWith('$')) return [value].flat().filter(isRecord).flatMap(findPersonalIdentifiers);
    return isPersonal(name) ? [[name.split('.')[0]!, value]] : [];
  });

/**
 * Rough upper bound of a condition's cost. Cheap conditions run first, because evaluation stops at the first failing condition.
 */
const COST = { comparison: 1, pattern: 10, list: 100 };

interface Predicate<Subject> {
  cost: number;
  holds(subject: Subject): boolean;
}

interface Part<Subject> extends Predicate<Subject> {
  path: Path;
  condition: unknown;
  /** Location of the condition's value; `null` for a group. */
  located: Located<Subject> | null;
}

const cheapestFirst = <Each extends Predicate<never>>(predicates: readonly Each[]): Each[] =>
  predicates.toSorted((one, other) => one.cost - other.cost);

const sumOfCosts = (predicates: readonly Predicate<never>[]): number =>
  predicates.reduce((sum, { cost }) => sum + cost, 0);

// Uses loops, because `every` and `some` take 50% longer, and the tests run for every campaign of every sync.
const all = <Subject>(predicates: readonly Predicate<Subject>[]): Predicate<Subject> => {
  const ordered = cheapestFirst(predicates);
  if (ordered.length === 1) return ordered[0]!;
  const tests = ordered.map(({ holds }) => holds);
  return {
    cost: sumOfCosts(ordered),
    holds: (subject) => {
      for (const holds of tests) if (!holds(subject)) return false;
      return true;
    },
  };
};

const any = <Subject>(predicates: readonly Predicate<Subject>[]): Predicate<Subject> => {
  const ordered = cheapestFirst(predicates);
  const tests = ordered.map(({ holds }) => holds);
  return {
    cost: sumOfCosts(ordered),
    holds: (subject) => {
      for (const holds of tests) if (holds(subject)) return true;
      return false;
    },
  };
};

const not = <Subject>({ cost, holds }: Predicate<Subject>): Predicate<Subject> => ({
  cost,
  holds: (subject) => !holds(subject),
});

const NEVER: Predicate<unknown> = { cost: 0, holds: () => false };

/** Returns whether a value at the path passes the test. For a list, returns whether any element passes, as in MongoDB. */
const someAt = (
  value: unknown,
  steps: readonly string[],
  at: number,
  test: (value: unknown) => boolean,
): boolean => {
  if (Array.isArray(value)) {
    const step = steps[at];
    if (step !== undefined && /^\d+$/.test(step)) return someAt(value[Number(step)], steps, at + 1, test);
    for (const each of value) if (someAt(each, steps, at, test)) return true;
    return at === steps.length && test(value);
  }
  if (at === steps.length) return test(value);
  return isRecord(value) ? someAt(getOwn(value, steps[at]!), steps, at + 1, test) : test(undefined);
};

const applied = <Subject>(
  { read, steps }: Located<Subject>,
  { test, among, isNegated }: Quantified,
): Predicate<Subject>['holds'] => {
  if (steps.length > 0) return (subject) => someAt(read(subject), steps, 0, test) !== isNegated;
  // Almost all values are scalars, which need no traversal.
  if (among && !isNegated) {
    return (subject) => {
      const value = read(subject);
      return typeof value === 'object' ? someAt(value, steps, 0, test) : among.has(value);
    };
  }
  return (subject) => {
    const value = read(subject);
    return (typeof value === 'object' ? someAt(value, steps, 0, test) : test(value)) !== isNegated;
  };
};

/** Resolves a name to a field at the top of a filter, or to a member of the value in a nested filter. */
type Locate<Subject> = (name: string) => Located<Subject> | string;

const inside =
  <Subject>({ read, steps, shape }: Located<Subject>): Locate<Subject> =>
  (name) => {
    const more = name.split('.');
    const reached = descend(shape, more);
    return typeof reached === 'string' ? reached : { read, steps: [...steps, ...more], shape: reached };
  };

const hasOperator = (value: Filter): boolean => Object.keys(value).some((name) => name.startsWith('$'));

const createCompiler = (report: ReportIssue) => {
  const fail = (path: Path, problem: string | Issue) => {
    report([...path], typeof problem === 'string' ? invalid(problem) : problem);
    return NEVER;
  };

  /** Validates an operand. Converts dates to Unix milliseconds. */
  const toOperand = (value: unknown, shape: Shape, path: Path): unknown => {
    if (Array.isArray(value)) return value.map((each) => toOperand(each, shape, path));
    if (isRecord(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => {
          const here = [...path, name];
          const member = name.startsWith('$')
            ? `expected a value, got the operator ${name}: name the member with a dot, as in "address.city"`
            : descend(shape, [name]);
          if (typeof member === 'string') fail(here, member);
          return [name, toOperand(each, typeof member === 'string' ? ANY : member, here)];
        }),
      );
    }
    if (value === null) return value;
    if (shape.kind === 'number' && typeof value !== 'number') fail(path, createIssue('number_expected', {}));
    if (shape.kind === 'moment' && typeof value === 'string') {
      const timeMs = /^\d{4}-\d\d-\d\d/.test(value) ? readDate(value) : Number.NaN;
      if (Number.isNaN(timeMs)) fail(path, createIssue('date_expected', { example: '2026-03-01T00:00:00Z' }));
      return timeMs;
    }
    return value;
  };

  const compileGroup = <Subject>(
    name: string,
    value: unknown,
    path: Path,
    compile: (filter: Filter, path: Path) => Part<Subject>[],
  ): Predicate<Subject> => {
    if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord)) {
      return fail(path, createIssue('empty_group', {}));
    }
    const filters = value.map((each, index) => all(compile(each, [...path, index])));
    if (name === '$and') return all(filters);
    return name === '$or' ? any(filters) : not(any(filters));
  };

  /** Compiles one operator of a condition. */
  const compileOperator = <Subject>(
    [name, operand]: [string, unknown],
    {
      located,
      options,
      path,
      depth,
    }: { located: Located<Subject>; options: unknown; path: Path; depth: number },
  ): Predicate<Subject> => {
    if (name === '$not') return not(compileValue(operand, located, path, depth, true));
    if (name === '$all') {
      if (!Array.isArray(operand)) return fail(path, 'expected an array');
      if (operand.length === 0) return NEVER;
      return all(operand.map((each, at) => compileValue(each, located, [...path, at], depth, false)));
    }
    if (name === '$elemMatch') {
      if (!isRecord(operand)) return fail(path, 'expected a filter');
      const element = { read: (value: unknown) => value, steps: [], shape: located.shape.element ?? ANY };
      const { holds } = compileValue(operand, element, path, depth, true);
      const test = (value: unknown) => Array.isArray(value) && value.some(holds);
      return { cost: COST.list, holds: applied(located, { test, isNegated: false }) };
    }
    const operator = VALUE_OPERATORS[name]!;
    const fault = operator.fault?.(operand, options) ?? null;
    if (fault !== null) return fail(path, fault);
    const compared = operator.isComparison ? toOperand(operand, located.shape, path) : operand;
    const flags = typeof options === 'string' ? options : undefined;
    const quantified = operator.compile(compared, flags);
    const cost = name === '$regex' ? COST.pattern : COST.comparison;
    return { cost, holds: applied(located, quantified) };
  };

  /**
   * Compiles the operand of a condition, which contains operators or is a value for equality. In `$not` and `$elemMatch`, an
   * object may also be a filter over the members of the value.
   */
  const compileValue = <Subject>(
    value: unknown,
    located: Located<Subject>,
    path: Path,
    depth: number,
    mayBeFilter: boolean,
  ): Predicate<Subject> => {
    if (depth > MAX_DEPTH) return fail(path, `expected a filter at most ${MAX_DEPTH} levels deep`);
    if (isRecord(value) && (mayBeFilter || hasOperator(value))) {
      return all(compileFilter(value, inside(located), { located, mayBeFilter }, path, depth));
    }
    const operand = toOperand(value, located.shape, path);
    const quantified = VALUE_OPERATORS['$eq']!.compile(operand, undefined);
    return { cost: COST.comparison, holds: applied(located, quantified) };
  };

  /** Compiles a filter. `self` is the value that the filter's operators apply to; `null` at the top of a filter. */
  const compileFilter = <Subject>(
    filter: Filter,
    find: Locate<Subject>,
    self: { located: Located<Subject>; mayBeFilter: boolean } | null,
    path: Path,
    depth: number,
  ): Part<Subject>[] => {
    if (depth > MAX_DEPTH) {
      fail(path, `expected a filter at most ${MAX_DEPTH} levels deep`);
      return [];
    }
    const part = (
      name: string,
      predicate: Predicate<Subject>,
      located: Located<Subject> | null = null,
    ): Part<Subject> => ({ ...predicate, path: [...path, name], condition: filter[name], located });
    const compileInner = (inner: Filter, at: Path) => compileFilter(inner, find, self, at, depth + 1);

    return Object.entries(filter).flatMap(([name, value]): Part<Subject>[] => {
      const here = [...path, name];
      const failed = (problem: string | Issue) => [part(name, fail(here, problem))];
      if (!name.startsWith('$')) {
        if (self && !self.mayBeFilter) return failed('expected an operator, as the others are');
        if (name.split('.').includes('__proto__')) return failed(createIssue('reserved_name', {}));
        const located = find(name);
        if (typeof located === 'string') return failed(located);
        return [part(name, compileValue(value, located, here, depth + 1, false), located)];
      }
      if (name === '$segment') {
        return failed(createIssue('unknown_segment', { id: value }));
      }
      if (!OPERATORS.includes(name)) return failed(createIssue('unknown_operator', { operators: OPERATORS }));
      if (GROUPS.includes(name)) {
        if (self && !self.mayBeFilter) return failed(`expected ${name} around whole conditions`);
        // Flattens `$and` into one list, so that each failing condition can be reported.
        if (name === '$and' && Array.isArray(value) && value.length > 0 && value.every(isRecord)) {
          return value.flatMap((each, index) => compileInner(each, [...here, index]));
        }
        return [part(name, compileGroup(name, value, here, compileInner))];
      }
      if (name === '$options') return [];
      if (self) {
        const context = { located: self.located, options: filter['$options'], path: here, depth: depth + 1 };
        return [part(name, compileOperator([name, value], context))];
      }
      if (name === '$not' && isRecord(value)) return [part(name, not(all(compileInner(value, here))))];
      return failed(`expected the name of what ${name} is about before it`);
    });
  };

  return (filter: Filter) => compileFilter<AudienceContext>(filter, locate, null, [], 0);
};

/** Condition that excludes a user. */
export interface FailingPart {
  /** Path of the condition in the filter. */
  path: readonly PropertyKey[];
  condition: unknown;
  /** User's value if it is a single value; `null` if the user has no value. */
  actual?: unknown;
}

/**
 * Result of an evaluation. `over_budget` excludes the user, because the user's texts are too long for the patterns of the filter.
 */
export type Membership = 'in' | 'out' | 'over_budget';

/** A compiled filter. */
export interface Audience {
  /** Filter as written, with segments expanded. */
  filter: Filter;
  membership(context: AudienceContext): Membership;
  /** Returns the conditions that exclude the user, in filter order. Returns an empty list only if the user is in the audience. */
  failingParts(context: AudienceContext): FailingPart[];
}

/** Returns the user's value at a path; `undefined` if it is not a single value. */
const actualValue = ({ read, steps, shape }: Located<AudienceContext>, context: AudienceContext): unknown => {
  let value = read(context);
  for (const step of steps) {
    if (Array.isArray(value)) return undefined;
    value = isRecord(value) ? getOwn(value, step) : undefined;
  }
  if (typeof value === 'object' && value !== null) return undefined;
  if (shape.kind === 'moment' && typeof value === 'number') return new Date(value).toISOString();
  return value ?? null;
};

/**
 * Compiles a filter in MongoDB query syntax, once for all users. Reports problems with their paths. An empty filter matches all
 * users. Returns `undefined` if there are problems.
 */
export const compileAudience = (filter: Filter, report: ReportIssue): Audience | undefined => {
  if (hasTooMany(filter)) {
    report([], invalid(`expected at most ${MAX_CONDITIONS} conditions, those of its segments among them`));
    return undefined;
  }
  let isSound = true;
  const parts = createCompiler((path, problem) => {
    isSound = false;
    report(path, problem);
  })(filter);
  if (!isSound) return undefined;
  const ordered = cheapestFirst(parts);
  const { cost, holds } = all(parts);
  const toMembership = (context: AudienceContext): Membership => (holds(context) ? 'in' : 'out');
  return {
    filter,
    // Only patterns need the budget, and most filters cost less than a pattern.
    membership:
      cost < COST.pattern
        ? toMembership
        : (context) => {
            patternBudget.start();
            const membership = toMembership(context);
            return patternBudget.isSpent() ? 'over_budget' : membership;
          },
    failingParts: (context) => {
      patternBudget.start();
      const failing = new Set<Part<AudienceContext>>();
      // Uses the order of `membership`, because the conditions share one budget.
      for (const part of ordered) {
        if (!part.holds(context) || patternBudget.isSpent()) failing.add(part);
        if (patternBudget.isSpent()) break;
      }
      return parts
        .filter((part) => failing.has(part))
        .map(({ path, condition, located }) => {
          const actual = located ? actualValue(located, context) : undefined;
          return { path, condition, ...(actual !== undefined && { actual }) };
        });
    },
  };
};
