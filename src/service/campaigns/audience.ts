import { isRecord } from '../../protocol/index.ts';
import { messageOf } from '../log.ts';
import { completeProfile } from '../profiles/profile.ts';
import { STANDARD_NAMES } from '../users/check-standard.ts';
import { readDate } from '../users/dates.ts';
import { type Asker, type AudienceMember, audienceOf, type EventSummary } from './audience-document.ts';
import { createTester, isComparison, OPERATORS, operandFault } from './audience-operators.ts';
import { type Clause, clausesOf } from './may-match.ts';

const GROUPS = ['$and', '$or', '$nor'];
const MAX_DEPTH = 20;
/** Each is looked at for each user. */
const MAX_CONDITIONS = 1_000;

/** Someone who has every member that a standard attribute is not. */
const EXAMPLE: Asker = {
  externalId: '',
  profile: completeProfile({ userId: 0, email: '', phone: '', createdAtMs: 0, updatedAtMs: 0 }),
  appId: '',
  appVersion: '',
};

/** Members of an audience document. Any other name at the top of a filter means a custom attribute. */
export const DOCUMENT_MEMBERS: ReadonlySet<string> = new Set([
  ...STANDARD_NAMES,
  ...Object.keys(audienceOf(EXAMPLE, 0)),
]);

type Kind = 'number' | 'moment';

const EVENT = {
  count: 'number',
  first: 'moment',
  last: 'moment',
  first_days_ago: 'number',
  last_days_ago: 'number',
} as const satisfies Record<keyof EventSummary, Kind>;

/** What can be asked of one event or one product. Unlike custom attributes, these are all. */
export const EVENT_MEMBERS: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  events: EVENT,
  purchases: { ...EVENT, revenue: 'number' } satisfies Record<
    keyof AudienceMember['purchases'][string],
    Kind
  >,
};
const LISTS: Readonly<Record<string, string>> = { events: 'event_list', purchases: 'purchase_list' };
/** The members of the document that have all of them as lists. */
const EVENT_LISTS: readonly string[] = Object.values(LISTS);

const kindOf = (field: string): Kind | undefined => {
  const [head = '', , member = '', ...deeper] = field.split('.');
  return deeper.length === 0 && Object.hasOwn(EVENT_MEMBERS, head)
    ? EVENT_MEMBERS[head]?.[member]
    : undefined;
};

/** Why no user can have the member at this path of a filter; `null` where users may. */
const eventProblem = (field: string): string | null => {
  const [head = '', , member] = field.split('.');
  if (!Object.hasOwn(EVENT_MEMBERS, head) || member === undefined || kindOf(field)) return null;
  const members = Object.keys(EVENT_MEMBERS[head]!).join(', ');
  return `expected one of ${members} after the name; a name with a dot is found in ${LISTS[head]}, with $elemMatch`;
};

/** Why no value at this path can be compared with `operand`, in which dates are `Date`s already. */
const operandProblem = (field: string, operand: unknown): string | null => {
  const kind = kindOf(field);
  if (!kind || operand === null) return null;
  if (Array.isArray(operand)) {
    return operand.map((each) => operandProblem(field, each)).find((problem) => problem !== null) ?? null;
  }
  if (kind === 'number') return typeof operand === 'number' ? null : 'expected a number';
  return typeof operand === 'string' ? 'expected a date such as 2026-03-01T00:00:00Z' : null;
};

type Report = (path: PropertyKey[], problem: string) => void;
export type Filter = Record<string, unknown>;

const isMoment = (path: string) => /^(?:events|purchases)\..+\.(?:first|last)$|^(?:first|last)$/.test(path);

/** ISO 8601 texts beside `first` and `last` become dates, so that `2026-03-01` and `2026-03-01T00:00:00Z` are the same. */
const operand = (value: unknown, field: string): unknown => {
  if (Array.isArray(value)) return value.map((each) => operand(each, field));
  if (typeof value === 'string' && isMoment(field) && /^\d{4}-\d\d-\d\d/.test(value)) {
    const time = readDate(value);
    return Number.isNaN(time) ? value : new Date(time);
  }
  return value;
};

/** The path in the document of a name at the top of a filter. */
export const documentField = (name: string): string => {
  const [head = ''] = name.split('.');
  if (head === 'subscription_groups') return name.toLowerCase();
  if (head === 'custom_attribute') return `custom_attributes${name.slice(head.length)}`;
  return DOCUMENT_MEMBERS.has(head) ? name : `custom_attributes.${name}`;
};

/** What belongs to one person alone. */
const PERSONAL = ['external_id', 'braze_id', 'user_aliases', 'email', 'phone'];

/** The members that belong to one person alone and that a filter compares, anywhere in it, with what it compares them with. */
export const personsIn = (filter: Filter): [member: string, operand: unknown][] =>
  Object.entries(filter).flatMap(([name, value]): [string, unknown][] => {
    if (name.startsWith('$')) return [value].flat().filter(isRecord).flatMap(personsIn);
    const [head = ''] = name.split('.');
    return PERSONAL.includes(head) ? [[head, value]] : [];
  });

/** Whether a filter, and those in it, have more members than an audience may: each is a condition, or a group of some. */
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

/** Checks what is compared with the value of a field. */
const compared = (value: unknown, field: string, path: PropertyKey[], report: Report): unknown => {
  const result = operand(value, field);
  const problem = operandProblem(field, result);
  if (problem) report(path, problem);
  return result;
};

/** Checks a filter, or what is compared with the value of a field, and returns what is really run. */
const prepare = (
  value: unknown,
  field: string,
  path: PropertyKey[],
  report: Report,
  depth: number,
): unknown => {
  if (depth > MAX_DEPTH) {
    report(path, `expected a filter at most ${MAX_DEPTH} levels deep`);
    return {};
  }
  return isRecord(value)
    ? prepareFilter(value, field, path, report, depth)
    : compared(value, field, path, report);
};

const prepareFilter = (
  filter: Filter,
  field: string,
  path: PropertyKey[],
  report: Report,
  depth: number,
): Filter => {
  const result: [string, unknown][] = [];
  for (const [name, value] of Object.entries(filter)) {
    const here = [...path, name];
    if (!name.startsWith('$')) {
      if (name.split('.').includes('__proto__')) report(here, 'expected a member\'s name, got "__proto__"');
      const inside = field === '' ? documentField(name) : name;
      const full = field === '' || field === '[]' ? inside : `${field}.${inside}`;
      // Inside of an entry of what was done the names are the entry's own, not the document's.
      const problem = field === '[]' ? null : eventProblem(full);
      if (problem) report(here, problem);
      result.push([inside, prepare(value, full, here, report, depth + 1)]);
      continue;
    }
    if (name === '$segment') {
      report(here, `expected a segment_id of 'segments', got ${JSON.stringify(value)}`);
      continue;
    }
    if (!OPERATORS.includes(name)) {
      report(here, `expected one of ${OPERATORS.join(', ')}`);
      continue;
    }
    const fault = operandFault(name, value, filter['$options']);
    if (fault !== null) {
      report(here, fault);
      continue;
    }
    if (GROUPS.includes(name)) {
      if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord)) {
        report(here, 'expected an array of filters that is not empty');
        continue;
      }
      result.push([
        name,
        value.map((each, index) => prepare(each, field, [...here, index], report, depth + 1)),
      ]);
    } else if (name === '$elemMatch') {
      const entry = EVENT_LISTS.includes(field) ? '[]' : field;
      if (isRecord(value)) result.push([name, prepare(value, entry, here, report, depth + 1)]);
      else report(here, 'expected a filter');
    } else if (name === '$not') {
      result.push([name, prepare(value, field, here, report, depth + 1)]);
    } else {
      result.push([name, isComparison(name) ? compared(value, field, here, report) : operand(value, field)]);
    }
  }
  return Object.fromEntries(result);
};

/** A filter that is ready. */
export interface Audience {
  matches(member: AudienceMember): boolean;
  /** As it is written, with what segments say in their place. */
  filter: Filter;
  /** What must hold for it to match, as far as simple comparisons can say. */
  clauses: readonly Clause[];
}

/**
 * Compiles a filter in MongoDB query form, once for all users; `undefined` where it has a problem, which is reported
 * with its path. An empty filter is everyone.
 */
export const compileAudience = (filter: Filter, report: Report): Audience | undefined => {
  if (hasTooMany(filter)) {
    report([], `expected at most ${MAX_CONDITIONS} conditions, those of its segments among them`);
    return undefined;
  }
  let sound = true;
  const reportFault: Report = (path, problem) => {
    sound = false;
    report(path, problem);
  };
  const prepared = prepareFilter(filter, '', [], reportFault, 0);
  if (!sound) return undefined;
  try {
    return {
      matches: createTester<AudienceMember>(prepared),
      filter,
      clauses: clausesOf(prepared),
    };
  } catch (error) {
    report([], `expected a filter in MongoDB query form, got one that fails: ${messageOf(error)}`);
    return undefined;
  }
};
