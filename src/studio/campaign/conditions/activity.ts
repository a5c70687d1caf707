import type { SuggestionsResponse } from '../../server/routes/suggestions.ts';
import type { Filter } from '../campaign-json.ts';
import { describeComparison } from './attribute.ts';
import {
  type ConditionKind,
  type Control,
  formatDays,
  formatValue,
  isFilter,
  named,
  parseBound,
  plain,
  toOperators,
} from './condition-kind.ts';

/** Activity at least `atLeast` times (0 for never), the last time within `withinDays` (`null` for any time). */
export interface ActivityCondition<Kind extends 'event' | 'purchase'> {
  kind: Kind;
  name: string;
  atLeast: number;
  withinDays: number | null;
}

interface ActivityOptions<Kind> {
  kind: Kind;
  /** Field of the filter. */
  field: string;
  label: string;
  nameLabel: string;
  did: string;
  /** Verb for use inside a sentence. */
  verb: string;
  example: string;
  suggestions: 'events' | 'products';
}

const times = (count: unknown) =>
  count === 1 ? 'once' : count === 2 ? 'twice' : `${formatValue(count)} times`;

/** Describes a measure of an activity. Returns `null` if it has no description. */
const describeMeasure = (did: string, measure: string, operator: string, operand: unknown): string | null => {
  switch (`${measure} ${operator}`) {
    case 'count $gte':
      return operand === 1 ? did : `${did} ${times(operand)} or more`;
    case 'count $gt':
      return operand === 0 ? did : `${did} more than ${times(operand)}`;
    case 'count $lte':
      return `${did} ${times(operand)} at most`;
    case 'count $eq':
      return operand === 0 ? `never ${did}` : `${did} exactly ${times(operand)}`;
    case ' $exists':
    case 'count $exists':
      return operand ? did : `never ${did}`;
    case 'last_days_ago $lte':
    case 'last_days_ago $lt':
      return `${did} in the last ${formatDays(operand)}`;
    case 'last_days_ago $gte':
    case 'last_days_ago $gt':
      return `${did}, but not in the last ${formatDays(operand)}`;
    case 'first_days_ago $lte':
      return `${did} for the first time in the last ${formatDays(operand)}`;
    default:
      return null;
  }
};

const createActivity = <Kind extends 'event' | 'purchase'>(
  options: ActivityOptions<Kind>,
): ConditionKind<ActivityCondition<Kind>> => {
  const { kind, field, label, nameLabel, did, verb, example, suggestions } = options;

  /** Returns the members of a filter on the same event or product, by measure. */
  const together = (name: string, filter: Filter) => {
    const [head, subject, measure = '', ...rest] = name.split('.');
    if (head !== field || subject === undefined) return null;
    if (rest.length > 0 || measure === '') return { subject, measures: {}, names: [name] };
    const prefix = `${field}.${subject}.`;
    const names = Object.keys(filter).filter(
      (each) => each.startsWith(prefix) && !each.slice(prefix.length).includes('.'),
    );
    const measures: Filter = Object.fromEntries(
      names.map((each) => [each.slice(prefix.length), filter[each]]),
    );
    return { subject, measures, names };
  };

  const readCondition = (subject: string, measures: Filter): ActivityCondition<Kind> | 'unsupported' => {
    const { count, last_days_ago: lately, ...others } = measures;
    if (Object.keys(others).length > 0 || (count === undefined && lately === undefined)) return 'unsupported';
    const isNever = isFilter(count) && count['$exists'] === false && Object.keys(count).length === 1;
    if (isNever) {
      return lately === undefined ? { kind, name: subject, atLeast: 0, withinDays: null } : 'unsupported';
    }
    const atLeast = count === undefined ? 1 : parseBound(count, '$gte');
    const withinDays = lately === undefined ? null : parseBound(lately, '$lte');
    if (atLeast === null || atLeast < 1 || (lately !== undefined && withinDays === null))
      return 'unsupported';
    return { kind, name: subject, atLeast, withinDays };
  };

  return {
    label,
    blank: () => ({ kind, name: '', atLeast: 1, withinDays: 30 }),
    read: (name, filter) => {
      const found = together(name, filter);
      if (!found) return name === field ? 'unsupported' : null;
      const result = readCondition(found.subject, found.measures);
      return result === 'unsupported' ? result : { result, names: found.names };
    },
    write: ({ name, atLeast, withinDays }) => {
      const path = `${field}.${name}`;
      if (atLeast === 0) return { [`${path}.count`]: { $exists: false } };
      return {
        [`${path}.count`]: { $gte: atLeast },
        ...(withinDays !== null && { [`${path}.last_days_ago`]: { $lte: withinDays } }),
      };
    },
    describe: (name, filter) => {
      const found = together(name, filter);
      if (!found) return null;
      const deed = `${verb} “${plain(found.subject)}”`;
      const count = parseBound(found.measures['count'], '$gte');
      const lately = parseBound(found.measures['last_days_ago'], '$lte');
      // Describes count and recency together.
      if (count !== null && lately !== null && found.names.length === 2) {
        const often = count === 1 ? '' : ` ${times(count)} or more, the last time`;
        return { result: [`${deed}${often} in the last ${formatDays(lately)}`], names: found.names };
      }
      const [, , measure = ''] = name.split('.');
      const result = Object.entries(toOperators(filter[name])).map(
        ([operator, operand]) =>
          describeMeasure(deed, measure, operator, operand) ?? describeComparison(name, operator, operand),
      );
      return { result, names: [name] };
    },
    isComplete: ({ name }) => name.trim() !== '',
    isUnknown: ({ name, atLeast }, names: SuggestionsResponse) =>
      atLeast > 0 && !names[suggestions].includes(name),
    controls: (condition) => {
      const { name, atLeast, withinDays } = condition;
      const bounds: Control<ActivityCondition<Kind>>[] = [
        {
          label: 'Times',
          type: 'number',
          isCount: true,
          value: atLeast,
          onInput: (typed) => (typed === null ? condition : { ...condition, atLeast: typed }),
        },
        {
          label: 'Last in days',
          type: 'number',
          isCount: false,
          value: withinDays,
          placeholder: 'ever',
          onInput: (typed) => ({ ...condition, withinDays: typed }),
        },
      ];
      return [
        {
          label: nameLabel,
          isWide: true,
          type: 'text',
          value: name,
          placeholder: example,
          suggestions,
          onInput: (typed) => ({ ...condition, name: typed }),
        },
        {
          label: did,
          type: 'select',
          value: atLeast === 0 ? 'never' : 'at least',
          options: named('at least', 'never'),
          onChoose: (chosen) => ({
            ...condition,
            ...(chosen === 'never' ? { atLeast: 0, withinDays: null } : { atLeast: 1 }),
          }),
        },
        ...(atLeast > 0 ? bounds : []),
      ];
    },
  };
};

export const event = createActivity({
  kind: 'event',
  field: 'events',
  label: 'Event',
  nameLabel: 'Event',
  did: 'Did it',
  verb: 'did',
  example: 'added_to_cart',
  suggestions: 'events',
});

export const purchase = createActivity({
  kind: 'purchase',
  field: 'purchases',
  label: 'Purchase',
  nameLabel: 'Product ID',
  did: 'Bought it',
  verb: 'bought',
  example: 'teapot',
  suggestions: 'products',
});
