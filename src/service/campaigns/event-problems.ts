import type { AudienceMember, EventSummary } from './audience-member.ts';

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
export const EVENT_LISTS: readonly string[] = Object.values(LISTS);

const kindOf = (field: string): Kind | undefined => {
  const [head = '', , member = '', ...deeper] = field.split('.');
  return deeper.length === 0 && Object.hasOwn(EVENT_MEMBERS, head)
    ? EVENT_MEMBERS[head]?.[member]
    : undefined;
};

/** Why no user can have the member at this path of a filter; `null` where users may. */
export const eventProblem = (field: string): string | null => {
  const [head = '', , member] = field.split('.');
  if (!Object.hasOwn(EVENT_MEMBERS, head) || member === undefined || kindOf(field)) return null;
  const members = Object.keys(EVENT_MEMBERS[head]!).join(', ');
  return `expected one of ${members} after the name; a name with a dot is found in ${LISTS[head]}, with $elemMatch`;
};

/** Why no value at this path can be compared with `operand`, in which dates are `Date`s already. */
export const operandProblem = (field: string, operand: unknown): string | null => {
  const kind = kindOf(field);
  if (!kind || operand === null) return null;
  if (Array.isArray(operand)) {
    return operand.map((each) => operandProblem(field, each)).find((problem) => problem !== null) ?? null;
  }
  if (kind === 'number') return typeof operand === 'number' ? null : 'expected a number';
  return typeof operand === 'string' ? 'expected a date such as 2026-03-01T00:00:00Z' : null;
};
