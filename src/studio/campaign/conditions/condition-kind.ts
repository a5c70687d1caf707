import type { SuggestionsResponse } from '../../server/routes/suggestions.ts';
import type { Filter } from '../campaign-json.ts';

/** Options of the controls. */
export interface ConditionChoices {
  apps: readonly { id: string; name: string }[];
  segments: readonly { id: string; name: string }[];
  campaigns: readonly { id: string; name: string }[];
  subscriptionGroups: readonly { id: string; name: string }[];
}

/** Names and values in user profiles. */
export type Suggestions = 'attributes' | 'events' | 'products' | { attribute: string };

/** Control of a condition. The first wide control is the main one. Event handlers return the new condition. */
export type Control<Condition> = { label: string; isWide?: boolean } & (
  | {
      type: 'text';
      value: string;
      placeholder?: string;
      suggestions?: Suggestions;
      /** Key of an uncontrolled input, which is reset when the key changes. */
      keptFor?: string;
      onInput(typed: string): Condition;
    }
  | {
      type: 'select';
      value: string;
      options: readonly { value: string; name: string }[];
      onChoose(value: string): Condition;
    }
  | {
      type: 'number';
      value: number | null;
      /** Whether only integers from 1 are valid, instead of any number from 0. */
      isCount: boolean;
      placeholder?: string;
      /** Called with the number; `null` if the field is empty. */
      onInput(value: number | null): Condition;
    }
);

/** Returns the name of a segment or campaign by its ID in a filter. */
export type AudienceName = (kind: 'segment' | 'campaign', id: string) => string;

/** Parsed result, with the names of the consumed filter members. */
interface Taken<Result> {
  result: Result;
  names: readonly string[];
}

/** Kind of condition in the audience builder. */
export interface ConditionKind<Condition> {
  /** Label of the button that adds a condition of this kind. */
  label: string;
  blank(): Condition;
  /**
   * Parses the member `name` of the filter with related members. Returns `null` if it is of another kind, `'unsupported'` if the
   * builder cannot show it.
   */
  read(name: string, filter: Filter): Taken<Condition> | 'unsupported' | null;
  write(condition: Condition): Filter;
  /**
   * Describes the member `name` of a filter, also if the builder cannot show it. Returns `null` if it is of another kind.
   * Default: as an attribute.
   */
  describe?(name: string, filter: Filter, getName: AudienceName): Taken<string[]> | null;
  /** Returns whether the condition is complete. Incomplete conditions are shown but not saved in the campaign. */
  isComplete(condition: Condition): boolean;
  /** Returns whether no user in the sample has the name. Default: no. */
  isUnknown?(condition: Condition, names: SuggestionsResponse): boolean;
  controls(condition: Condition, choices: ConditionChoices): Control<Condition>[];
}

export const isFilter = (value: unknown): value is Filter =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the only entry of an object such as `{ "$gte": 3 }`. */
export const onlyEntry = (value: unknown): [string, unknown] | null => {
  const [entry, more] = isFilter(value) ? Object.entries(value) : [];
  return entry && !more ? entry : null;
};

export const named = (...values: readonly string[]) => values.map((value) => ({ value, name: value }));

/** Creates the main control of a condition on one thing of the workspace, such as a segment. */
export const idControl = <Condition>(
  label: string,
  options: readonly { id: string; name: string }[],
  value: string,
  onChoose: (id: string) => Condition,
): Control<Condition> => ({
  label,
  isWide: true,
  type: 'select',
  value,
  options: [{ value: '', name: 'Choose…' }, ...options.map(({ id, name }) => ({ value: id, name }))],
  onChoose,
});

/** Returns the operand, such as 2 for `{ "$gte": 2 }`. */
export const parseBound = (raw: unknown, operator: string): number | null => {
  const entry = onlyEntry(raw);
  return entry?.[0] === operator && typeof entry[1] === 'number' ? entry[1] : null;
};

/** Formats a period, such as `day` or `7 days`. */
export const formatDays = (count: unknown): string => (count === 1 ? 'day' : `${formatValue(count)} days`);

export const plain = (name: string): string => name.replaceAll('_', ' ');

/** Strings that look like another type, because the number 10115 and the string “10115” match different users. */
const LIKE_ANOTHER = /^(?:-?\d[\d.]*|true|false|yes|no)$/i;

export const formatValue = (raw: unknown): string => {
  if (typeof raw === 'string') return LIKE_ANOTHER.test(raw) ? `the text “${raw}”` : plain(raw);
  if (Array.isArray(raw)) return raw.map(formatValue).join(' or ');
  return raw === true ? 'yes' : raw === false ? 'no' : JSON.stringify(raw);
};

/** Returns the operators of a condition. A bare value is `$eq`. */
export const toOperators = (raw: unknown): Filter =>
  isFilter(raw) && Object.keys(raw).every((key) => key.startsWith('$')) ? raw : { $eq: raw };
