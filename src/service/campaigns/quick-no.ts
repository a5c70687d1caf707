import type { AudienceMember } from './audience-member.ts';

/** True where the whole filter certainly does not match; false leaves the question open. */
type QuickNo = (member: AudienceMember) => boolean;
/** The same for the value at one path: a text, a number, a boolean, or nothing. */
type ScalarNo = (value: unknown) => boolean;
type Filter = Record<string, unknown>;

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
const isFilter = (value: unknown): value is Filter =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const NUMBERS: Record<string, (value: number, bound: number) => boolean> = {
  $gt: (value, bound) => value > bound,
  $gte: (value, bound) => value >= bound,
  $lt: (value, bound) => value < bound,
  $lte: (value, bound) => value <= bound,
};

const scalarNo = (operator: string, operand: unknown): ScalarNo | null => {
  if (operator === '$eq' && isScalar(operand)) return (value) => value !== operand;
  if (operator === '$in' && Array.isArray(operand) && operand.every(isScalar)) {
    const wanted = new Set(operand);
    return (value) => !wanted.has(value);
  }
  const holds = NUMBERS[operator];
  if (!holds || typeof operand !== 'number') return null;
  return (value) => typeof value !== 'number' || !holds(value, operand);
};

/** What is at a path, or something that is no scalar where that is not for certain. */
const readerOf = (steps: readonly string[]): ((member: Filter) => unknown) => {
  const [first = '', second = ''] = steps;
  const step = (value: unknown, name: string): unknown => {
    // What is behind an array is any of its elements: that is for the library to find.
    if (value === undefined || value === null || Array.isArray(value)) return value;
    return (value as Filter)[name];
  };
  // Nearly every path is that of a member or of a custom attribute.
  if (steps.length === 1) return (member) => member[first];
  if (steps.length === 2) return (member) => step(member[first], second);
  return (member) => steps.reduce(step, member as unknown);
};

const pathNo = (path: string, condition: unknown): QuickNo | null => {
  const operators = isFilter(condition) ? Object.entries(condition) : [['$eq', condition] as const];
  const checks = operators.flatMap(([operator, operand]) => scalarNo(operator, operand) ?? []);
  if (checks.length === 0) return null;
  const read = readerOf(path.split('.'));
  const [only] = checks;
  const isNot: ScalarNo =
    checks.length === 1 && only ? only : (value) => checks.some((check) => check(value));
  return (member) => {
    const value = read(member);
    return (typeof value !== 'object' || value === null) && typeof value !== 'function' && isNot(value);
  };
};

/**
 * A cheap first look at a filter. Most campaigns are not for most users, and most filters compare an attribute with a
 * text or a number: what fails such a comparison needs no more than that. `null` where the filter has no such part.
 */
export const quickNo = (filter: Filter): QuickNo | null => {
  const parts = Object.entries(filter).flatMap(([name, condition]): QuickNo[] => {
    if (name === '$and' && Array.isArray(condition)) {
      return condition.flatMap((each: Filter) => quickNo(each) ?? []);
    }
    if (name === '$or' && Array.isArray(condition)) {
      const branches = condition.map((each: Filter) => quickNo(each));
      const known = branches.filter((branch) => branch !== null);
      return known.length === branches.length ? [(member) => known.every((isNot) => isNot(member))] : [];
    }
    const part = name.startsWith('$') ? null : pathNo(name, condition);
    return part ? [part] : [];
  });
  return parts.length > 0 ? (member) => parts.some((isNot) => isNot(member)) : null;
};
