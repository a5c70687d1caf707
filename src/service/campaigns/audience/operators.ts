import { isDeepStrictEqual } from 'node:util';
import { countMaxSteps, patternCost } from './regex-safety.ts';
import { isVersion, versionKey } from './versions.ts';

type Test = (value: unknown) => boolean;

/**
 * Test of the values at a path. A path that crosses lists has several values. The operator holds if any value passes. A negated
 * operator holds if no value passes.
 */
export interface Quantified {
  test: Test;
  /** Values that pass, if they are a set of scalars. Faster than calling `test`. */
  among?: ReadonlySet<unknown>;
  isNegated: boolean;
}

const some = (test: Test): Quantified => ({ test, isNegated: false });
const none = (test: Test): Quantified => ({ test, isNegated: true });

interface Operator {
  /** Returns the reason that the operand is invalid; `null` if valid. */
  fault?(operand: unknown, options: unknown): string | null;
  /** The operator compares the operand with the value, so both must have the same kind. */
  isComparison?: true;
  /** Throws if the operand has a fault. */
  compile(operand: unknown, options: string | undefined): Quantified;
}

/** Creates an operator with an operand of one type. `expected` describes the type. */
const typed = <Operand>(
  isOperand: (operand: unknown) => operand is Operand,
  expected: string,
  compile: (operand: Operand) => Quantified,
): Operator => ({
  fault: (operand) => (isOperand(operand) ? null : expected),
  compile(operand) {
    if (!isOperand(operand)) throw new Error(expected);
    return compile(operand);
  },
});

const isList = (operand: unknown): operand is readonly unknown[] => Array.isArray(operand);
const isNumber = (operand: unknown) => typeof operand === 'number';
const isDivision = (operand: unknown): operand is [divisor: number, remainder: number] =>
  isList(operand) && operand.length === 2 && operand.every(isNumber);
const list = (compile: (operands: readonly unknown[]) => Quantified): Operator => ({
  isComparison: true,
  ...typed(isList, 'expected an array', compile),
});

const isScalar = (value: unknown): boolean => value !== null && typeof value !== 'object';

/** Returns a test for equality. A missing value equals `null`, as in MongoDB. */
const equals = (operand: unknown): Test => {
  if (operand === null) return (value) => value === null || value === undefined;
  return isScalar(operand) ? (value) => value === operand : (value) => isDeepStrictEqual(value, operand);
};

const among = (operands: readonly unknown[]): Test => {
  const scalars = new Set(operands.filter(isScalar));
  const others = operands.filter((each) => !isScalar(each)).map(equals);
  return (value) => scalars.has(value) || others.some((test) => test(value));
};

const someAmong = (operands: readonly unknown[]): Quantified =>
  operands.every(isScalar) ? { ...some(among(operands)), among: new Set(operands) } : some(among(operands));

interface Comparison {
  number(bound: number): Test;
  text(bound: string): Test;
  includesEqual: boolean;
}

/**
 * Creates a comparison operator for numbers, strings, or Booleans as 0 and 1. A `null` operand matches missing values if the
 * operator includes equality; any other operand matches nothing.
 */
const comparison = ({ number, text, includesEqual }: Comparison): Operator => ({
  isComparison: true,
  compile: (bound) => {
    if (bound === null && includesEqual) return some(equals(null));
    if (typeof bound === 'number') return some(number(bound));
    if (typeof bound === 'string') return some(text(bound));
    if (typeof bound !== 'boolean') return some(() => false);
    const holds = number(Number(bound));
    return some((value) => typeof value === 'boolean' && holds(Number(value)));
  },
});

const version = (holds: (value: string, bound: string) => boolean): Operator =>
  typed(isVersion, 'expected a version such as "10.2.0"', (operand) => {
    const bound = versionKey(operand);
    return some((value) => typeof value === 'string' && holds(versionKey(value), bound));
  });

/** Folds the case of a string in any script. */
const folded = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value);

/** Maximum number of regex steps of one audience for one user, which take about 5 ms. A list may hold 500 strings. */
const MAX_STEPS = 1_000_000;
let stepsLeft = 0;

/** Limits the regex steps of one evaluation, because matching is synchronous. */
export const patternBudget = {
  start: (): void => {
    stepsLeft = MAX_STEPS;
  },
  /** Whether the budget is used up. If so, all results since `start()` are invalid. */
  isSpent: (): boolean => stepsLeft < 0,
};

const regex: Operator = {
  fault: (operand, options) => {
    const cost = patternCost(operand, options);
    return typeof cost === 'string' ? cost : null;
  },
  compile: (pattern, options) => {
    const cost = patternCost(pattern, options);
    if (typeof cost === 'string') throw new Error(cost);
    const expression = new RegExp(String(pattern), options);
    return some((value) => {
      if (typeof value !== 'string' || stepsLeft < 0) return false;
      stepsLeft -= countMaxSteps(cost, value.length);
      expression.lastIndex = 0;
      return stepsLeft >= 0 && expression.test(value);
    });
  },
};

/** Operators on a value. */
export const VALUE_OPERATORS: Readonly<Record<string, Operator>> = {
  $eq: { isComparison: true, compile: (operand) => someAmong([operand]) },
  $exists: { compile: (operand) => (operand ? some : none)((value) => value !== undefined) },
  $gt: comparison({
    number: (bound) => (value) => typeof value === 'number' && value > bound,
    text: (bound) => (value) => typeof value === 'string' && value > bound,
    includesEqual: false,
  }),
  $gte: comparison({
    number: (bound) => (value) => typeof value === 'number' && value >= bound,
    text: (bound) => (value) => typeof value === 'string' && value >= bound,
    includesEqual: true,
  }),
  $in: list(someAmong),
  $ini: list((operands) => {
    const known = new Set(operands.map(folded));
    return some((value) => known.has(folded(value)));
  }),
  $lt: comparison({
    number: (bound) => (value) => typeof value === 'number' && value < bound,
    text: (bound) => (value) => typeof value === 'string' && value < bound,
    includesEqual: false,
  }),
  $lte: comparison({
    number: (bound) => (value) => typeof value === 'number' && value <= bound,
    text: (bound) => (value) => typeof value === 'string' && value <= bound,
    includesEqual: true,
  }),
  $mod: typed(isDivision, 'expected [divisor, remainder]', ([divisor, remainder]) =>
    some((value) => typeof value === 'number' && value % divisor === remainder),
  ),
  $ne: { isComparison: true, compile: (operand) => none(equals(operand)) },
  $nin: list((operands) => none(among(operands))),
  $regex: regex,
  $size: typed(isNumber, 'expected a number', (size) =>
    some((value) => Array.isArray(value) && value.length === size),
  ),
  $veq: version((value, bound) => value === bound),
  $vgt: version((value, bound) => value > bound),
  $vgte: version((value, bound) => value >= bound),
  $vlt: version((value, bound) => value < bound),
  $vlte: version((value, bound) => value <= bound),
};

export const GROUPS: readonly string[] = ['$and', '$or', '$nor'];

/** Names of all operators of a filter. Excludes operators that evaluate code, such as `$where`. */
export const OPERATORS: readonly string[] = [
  ...Object.keys(VALUE_OPERATORS),
  ...GROUPS,
  '$all',
  '$elemMatch',
  '$not',
  '$options',
].sort();
