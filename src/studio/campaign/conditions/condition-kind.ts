import type { SuggestionsResponse } from '../../server/routes/suggestions.ts';
import type { Filter } from '../campaign-json.ts';

/** What conditions choose from. */
export interface ConditionChoices {
  apps: readonly { id: string; name: string }[];
  segments: readonly { id: string; name: string }[];
  campaigns: readonly { id: string; name: string }[];
  subscriptionGroups: readonly { id: string; name: string }[];
}

/** Names and values that users have. */
export type Suggestions = 'attributes' | 'events' | 'products' | { valuesOf: string };

/** One control of a line, whose first wide one says what the line is about. A change returns the condition as it then is. */
export type Control<Condition> = { label: string; isWide?: boolean } & (
  | {
      type: 'text';
      value: string;
      placeholder?: string;
      suggestions?: Suggestions;
      /** The text is kept as it is typed, until this changes. */
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
      /** Whole numbers from 1, or any from 0. */
      isCount: boolean;
      placeholder?: string;
      /** `null` for an empty field. */
      onInput(value: number | null): Condition;
    }
);

/** Returns the name of a segment or campaign that a filter has only as an ID. */
export type AudienceName = (kind: 'segment' | 'campaign', id: string) => string;

/** What one kind reads from a filter, and the members that it has read. */
export interface Taken<Result> {
  result: Result;
  names: readonly string[];
}

/** A kind of condition: one line of the audience builder. */
export interface ConditionKind<Condition> {
  /** Names the button that adds a line. */
  label: string;
  blank(): Condition;
  /**
   * Reads the member `name` of the filter, and those that belong to it. `null` if it is of another kind, `'unsaid'` if it says more
   * than a line can.
   */
  read(name: string, filter: Filter): Taken<Condition> | 'unsaid' | null;
  write(condition: Condition): Filter;
  /** Says what the member `name` of a filter asks, in words; `null` if it is of another kind. Lines need not exist for it. */
  words(name: string, filter: Filter, nameOf: AudienceName): Taken<string[]> | null;
  /** A line that is not filled in stays in the builder and out of the campaign. */
  isComplete(condition: Condition): boolean;
  /** None of the users who were looked at has it. What is to be missing may be. */
  isUnknown(condition: Condition, names: SuggestionsResponse): boolean;
  controls(condition: Condition, choices: ConditionChoices): Control<Condition>[];
}

export const isFilter = (value: unknown): value is Filter =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The only member of a record, such as `{ "$gte": 3 }`. */
export const onlyEntry = (value: unknown): [string, unknown] | null => {
  const [entry, more] = isFilter(value) ? Object.entries(value) : [];
  return entry && !more ? entry : null;
};

export const named = (...values: readonly string[]) => values.map((value) => ({ value, name: value }));

export const choices = (options: readonly { id: string; name: string }[]) => [
  { value: '', name: 'Choose …' },
  ...options.map(({ id, name }) => ({ value: id, name })),
];

export const plain = (name: string): string => name.replaceAll('_', ' ');

/** A text that looks like something else: the number 10115 and the text “10115” are two values, and match other people. */
const LIKE_ANOTHER = /^(?:-?\d[\d.]*|true|false|yes|no)$/i;

export const formatValue = (raw: unknown): string => {
  if (typeof raw === 'string') return LIKE_ANOTHER.test(raw) ? `the text “${raw}”` : plain(raw);
  if (Array.isArray(raw)) return raw.map(formatValue).join(' or ');
  return raw === true ? 'yes' : raw === false ? 'no' : JSON.stringify(raw);
};

/** The operators of a condition; a value alone is `$eq`. */
export const operatorsOf = (raw: unknown): Filter =>
  isFilter(raw) && Object.keys(raw).every((key) => key.startsWith('$')) ? raw : { $eq: raw };
