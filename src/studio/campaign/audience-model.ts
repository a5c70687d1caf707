import type { Filter } from './campaign-text.ts';
import type { Scalar } from './scalar-text.ts';

/** One line of the audience builder. */
export type Condition =
  | { kind: 'attribute'; name: string; operator: AttributeOperator; value: Scalar | Scalar[] | null }
  /** Did it at least so often (0: never), the last time within so many days (`null`: ever). */
  | { kind: 'event' | 'purchase'; name: string; atLeast: number; withinDays: number | null }
  | { kind: 'group'; id: string; state: 'subscribed' | 'unsubscribed' }
  | { kind: 'app'; ids: string[] }
  | { kind: 'segment'; id: string; isIn: boolean };

export const ATTRIBUTE_OPERATORS = [
  'is',
  'is not',
  'is one of',
  'more than',
  'at least',
  'less than',
  'at most',
  'is known',
  'is not known',
] as const;
export type AttributeOperator = (typeof ATTRIBUTE_OPERATORS)[number];

export interface AudienceModel {
  match: 'all' | 'any';
  conditions: Condition[];
}

/** By what the filter calls them. */
const OPERATORS: Readonly<Record<string, AttributeOperator>> = {
  $eq: 'is',
  $ne: 'is not',
  $in: 'is one of',
  $gt: 'more than',
  $gte: 'at least',
  $lt: 'less than',
  $lte: 'at most',
};
const KINDS = { events: 'event', purchases: 'purchase' } as const;

const isFilter = (value: unknown): value is Filter =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value);

/** Thrown inside for what the builder has no line for. */
const UNSAID = Symbol('unsaid');
const unsaid = (): never => {
  throw UNSAID;
};

const attribute = (name: string, raw: unknown): Condition => {
  if (isScalar(raw)) return { kind: 'attribute', name, operator: 'is', value: raw };
  const [entry, more] = isFilter(raw) ? Object.entries(raw) : [];
  if (!entry || more) return unsaid();
  const [wire, operand] = entry;
  if (wire === '$exists' && typeof operand === 'boolean') {
    return { kind: 'attribute', name, operator: operand ? 'is known' : 'is not known', value: null };
  }
  const operator = OPERATORS[wire] ?? unsaid();
  if (operator === 'is one of') {
    const isList = Array.isArray(operand) && operand.every(isScalar);
    return isList ? { kind: 'attribute', name, operator, value: operand } : unsaid();
  }
  return isScalar(operand) ? { kind: 'attribute', name, operator, value: operand } : unsaid();
};

/** `{ "count": { "$gte": 3 }, "last_days_ago": { "$lte": 30 } }` of one event or product. */
const done = (kind: 'event' | 'purchase', name: string, members: Record<string, unknown>): Condition => {
  const { count, last_days_ago: days, ...others } = members;
  if (Object.keys(others).length > 0) return unsaid();
  const bound = (raw: unknown, wire: string): number | null => {
    if (raw === undefined) return null;
    const [entry, more] = isFilter(raw) ? Object.entries(raw) : [];
    return entry && !more && entry[0] === wire && typeof entry[1] === 'number' ? entry[1] : unsaid();
  };
  if (
    isFilter(count) &&
    count['$exists'] === false &&
    Object.keys(count).length === 1 &&
    days === undefined
  ) {
    return { kind, name, atLeast: 0, withinDays: null };
  }
  const atLeast = bound(count, '$gte') ?? 1;
  return atLeast >= 1 ? { kind, name, atLeast, withinDays: bound(days, '$lte') } : unsaid();
};

/** `{ "$segment": "gold" }`, and the same in a `$nor` of its own. */
const segmentOf = (path: string, raw: unknown): Condition | null => {
  if (path === '$segment' && typeof raw === 'string') return { kind: 'segment', id: raw, isIn: true };
  const [only, more] = path === '$nor' && Array.isArray(raw) ? raw : [];
  if (more !== undefined || !isFilter(only) || Object.keys(only).join() !== '$segment') return null;
  return typeof only['$segment'] === 'string' ? { kind: 'segment', id: only['$segment'], isIn: false } : null;
};

const conditionsOf = (filter: Filter): Condition[] => {
  const conditions: Condition[] = [];
  const doings = new Map<
    string,
    { kind: 'event' | 'purchase'; name: string; members: Record<string, unknown> }
  >();
  for (const [path, raw] of Object.entries(filter)) {
    const segment = segmentOf(path, raw);
    if (segment) {
      conditions.push(segment);
      continue;
    }
    const [head = '', name = '', measure, ...rest] = path.split('.');
    if (head.startsWith('$')) unsaid();
    if (head === 'events' || head === 'purchases') {
      if (measure === undefined || rest.length > 0) unsaid();
      const key = `${head}.${name}`;
      const found = doings.get(key) ?? { kind: KINDS[head], name, members: {} };
      found.members[measure!] = raw;
      doings.set(key, found);
    } else if (head === 'subscription_groups') {
      if (raw !== 'subscribed' && raw !== 'unsubscribed') return unsaid();
      conditions.push({ kind: 'group', id: name, state: raw });
    } else if (path === 'app_id') {
      const ids = typeof raw === 'string' ? [raw] : isFilter(raw) ? raw['$in'] : null;
      if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string')) return unsaid();
      conditions.push({ kind: 'app', ids });
    } else conditions.push(attribute(path, raw));
  }
  return [...conditions, ...[...doings.values()].map(({ kind, name, members }) => done(kind, name, members))];
};

/** What a filter says, line by line; `null` where it says more than the builder has lines for. */
export const readAudience = (filter: Filter | null | undefined): AudienceModel | null => {
  if (!filter) return { match: 'all', conditions: [] };
  const { $or: any, $and: all, ...plain } = filter;
  const lists = [any, all].filter((list) => list !== undefined);
  try {
    if (lists.length === 0) return { match: 'all', conditions: conditionsOf(plain) };
    const [list] = lists;
    if (lists.length > 1 || Object.keys(plain).length > 0 || !Array.isArray(list)) return null;
    const conditions = list.map((each) => {
      const [condition, ...more] = isFilter(each) ? conditionsOf(each) : [];
      return condition && more.length === 0 ? condition : unsaid();
    });
    return { match: any === undefined ? 'all' : 'any', conditions };
  } catch (error) {
    if (error === UNSAID) return null;
    throw error;
  }
};

const WIRE = Object.fromEntries(Object.entries(OPERATORS).map(([wire, operator]) => [operator, wire]));

const filterOf = (condition: Condition): Filter => {
  switch (condition.kind) {
    case 'attribute': {
      const { name, operator, value } = condition;
      if (operator === 'is known' || operator === 'is not known')
        return { [name]: { $exists: operator === 'is known' } };
      return { [name]: operator === 'is' ? value : { [WIRE[operator]!]: value } };
    }
    case 'event':
    case 'purchase': {
      const path = `${condition.kind === 'event' ? 'events' : 'purchases'}.${condition.name}`;
      if (condition.atLeast === 0) return { [`${path}.count`]: { $exists: false } };
      return {
        [`${path}.count`]: { $gte: condition.atLeast },
        ...(condition.withinDays !== null && { [`${path}.last_days_ago`]: { $lte: condition.withinDays } }),
      };
    }
    case 'group':
      return { [`subscription_groups.${condition.id}`]: condition.state };
    case 'segment':
      return condition.isIn ? { $segment: condition.id } : { $nor: [{ $segment: condition.id }] };
    case 'app':
      return { app_id: { $in: condition.ids } };
  }
};

/** The filter that says these lines; `null` for everyone. */
export const writeAudience = ({ match, conditions }: AudienceModel): Filter | null => {
  const filters = conditions.map(filterOf);
  if (filters.length === 0) return null;
  if (match === 'any' && filters.length > 1) return { $or: filters };
  const names = filters.flatMap((filter) => Object.keys(filter));
  // Two lines about one attribute cannot be members of one object.
  if (new Set(names).size < names.length) return { $and: filters };
  // `Object.assign` would lose an attribute `__proto__`, and say everyone: the checks name it.
  return Object.fromEntries(filters.flatMap((filter) => Object.entries(filter)));
};
