import { type MemberPath, memberPath } from './field-path.ts';
import { parseJson } from './parse-json.ts';
import type { InputArray } from './users-track.ts';

type Convert = (value: unknown) => unknown;

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  t: true,
  '1': true,
  false: false,
  f: false,
  '0': false,
};

const toNumber: Convert = (value) => {
  if (typeof value === 'number') return value;
  const text = typeof value === 'string' ? value.trim() : '';
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
};
const toJson: Convert = (value) => {
  if (typeof value !== 'string') return value;
  try {
    return parseJson(value);
  } catch {
    return undefined;
  }
};

/** Types that a mapping may specify after a colon. Each parser returns `undefined` if the value does not match. */
const TYPES = {
  text: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  number: toNumber,
  boolean: (value) => (typeof value === 'boolean' ? value : BOOLEANS[String(value).trim().toLowerCase()]),
  json: toJson,
} satisfies Record<string, Convert>;

export type ColumnType = keyof typeof TYPES;

const isColumnType = (type: string): type is ColumnType => Object.hasOwn(TYPES, type);

/** Target of a column, such as `properties.score:number`. */
export interface ColumnMapping {
  path: MemberPath;
  /** `null` if not specified. */
  type: ColumnType | null;
}

/** Parses the mapping of `column`. Throws an `Error` with the column's name if the type is unknown. */
export const parseMapping = (array: InputArray, column: string, written: string): ColumnMapping => {
  const [, name = '', type] = /^(.*?)(?::([^:]*))?$/s.exec(written) ?? [];
  if (type !== undefined && !isColumnType(type)) {
    throw new Error(
      `the column "${column}" has the type "${type}"; write ${Object.keys(TYPES).join(', ')} after the colon`,
    );
  }
  return { path: memberPath(array, name), type: type ?? null };
};

/** Converts a non-null value to the type of its column. Returns the expected type if it does not match. */
export const convertColumn = (
  value: unknown,
  type: ColumnType | null,
): { value: unknown } | { expected: string } => {
  if (type === null) return { value };
  const converted: unknown = TYPES[type](value);
  if (converted !== undefined) return { value: converted };
  return { expected: type === 'json' ? 'JSON' : `a ${type}` };
};
