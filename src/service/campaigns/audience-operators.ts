import sift from 'sift';
import { patternCost, stepsOf } from './safe-pattern.ts';

// The package is CommonJS for Node: everything it exports is a member of its default.
const library = sift as unknown as typeof import('sift');

type Options = Parameters<typeof library.createEqualsOperation>[2];

/** An operator of sift that holds where `test` does, for a value or for one of the entries of a list. */
const operator =
  <Operand>(make: (operand: Operand) => (value: unknown) => boolean) =>
  (operand: Operand, owner: unknown, options: Options) =>
    library.createEqualsOperation(make(operand), owner, options);

/** What the patterns of one audience may cost for one user, in steps: some five milliseconds. A list may hold five hundred texts. */
const MAX_STEPS = 1_000_000;
/** Of the test that is under way: a test is one go. */
let stepsLeft = 0;

/** A pattern on a text, or on each text of a list. Throws where a user's texts cost more than an audience may. */
const regex = (pattern: string, owner: { $options?: string }, options: Options) => {
  const expression = new RegExp(pattern, owner.$options);
  const cost = patternCost(pattern, owner.$options);
  if (typeof cost === 'string') throw new Error(cost);
  const test = (value: unknown) => {
    if (typeof value !== 'string') return false;
    stepsLeft -= stepsOf(cost, value.length);
    if (stepsLeft < 0) throw new Error('The texts of the user are too long for the patterns of the audience');
    expression.lastIndex = 0;
    return expression.test(value);
  };
  return library.createEqualsOperation(test, owner, options);
};

/** `10.2.0` in the order of releases, as texts that compare letter by letter; a release comes after its candidates (`1.0.0-rc.1`). */
const versionKey = (version: unknown): string => {
  const text = String(version).trim();
  const [release = '', ...candidate] = text.replace(/^v/i, '').split('+')[0]!.split('-');
  const padded = (parts: string) =>
    parts
      .split('.')
      // As SemVer has it, a number comes before a word.
      .map((part) => (/^\d+$/.test(part) ? part.padStart(12, '0') : `:${part}`))
      .join('.');
  // What is missing is 0: 10 is 10.0.0.
  const numbers = [...release.split('.'), '0', '0'].slice(0, Math.max(3, release.split('.').length));
  return `${padded(numbers.join('.'))}-${candidate.length > 0 ? padded(candidate.join('-')) : '~'}`;
};

const version = (holds: (value: string, bound: string) => boolean) =>
  operator((operand: string) => {
    const bound = versionKey(operand);
    return (value) => typeof value === 'string' && holds(versionKey(value), bound);
  });

/** Letters of either case are the same, in every script. */
const folded = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value);

/** Everything a filter may use. `$where` and all else that evaluates code is left out. */
const OPERATIONS: Options['operations'] = {
  $all: library.$all,
  $and: library.$and,
  $elemMatch: library.$elemMatch,
  $eq: library.$eq,
  $exists: library.$exists,
  $gt: library.$gt,
  $gte: library.$gte,
  $in: library.$in,
  $ini: operator((operands: unknown[]) => {
    const known = new Set(operands.map(folded));
    return (value) => known.has(folded(value));
  }),
  $lt: library.$lt,
  $lte: library.$lte,
  $mod: library.$mod,
  $ne: library.$ne,
  $nin: library.$nin,
  $nor: library.$nor,
  $not: library.$not,
  $options: library.$options,
  $or: library.$or,
  $regex: regex,
  $size: library.$size,
  $veq: version((value, bound) => value === bound),
  $vgt: version((value, bound) => value > bound),
  $vgte: version((value, bound) => value >= bound),
  $vlt: version((value, bound) => value < bound),
  $vlte: version((value, bound) => value <= bound),
};

export const OPERATORS: readonly string[] = Object.keys(OPERATIONS);

const COMPARISONS = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$ini'];
const VERSIONS = ['$veq', '$vgt', '$vgte', '$vlt', '$vlte'];

export const isComparison = (name: string): boolean => COMPARISONS.includes(name);

const MAX_VERSION_CHARACTERS = 100;

/** Why an operator cannot have this operand; `null` where it can. `options` are those of a pattern. */
export const operandFault = (name: string, operand: unknown, options: unknown): string | null => {
  if (name === '$regex') {
    const cost = patternCost(operand, options);
    return typeof cost === 'string' ? cost : null;
  }
  if (['$in', '$nin', '$all', '$ini'].includes(name) && !Array.isArray(operand)) return 'expected an array';
  if (!VERSIONS.includes(name)) return null;
  const isVersion =
    typeof operand === 'string' && /^v?\d/i.test(operand) && operand.length <= MAX_VERSION_CHARACTERS;
  return isVersion ? null : 'expected a version such as "10.2.0"';
};

/** Makes a filter that is prepared for it into a test of a document. */
export const createTester = <Document>(
  filter: Record<string, unknown>,
): ((document: Document) => boolean) => {
  const test = library.createQueryTester<Document, Record<string, unknown>>(filter, {
    operations: OPERATIONS,
  });
  return (document) => {
    stepsLeft = MAX_STEPS;
    return test(document);
  };
};
