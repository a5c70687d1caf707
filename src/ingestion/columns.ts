import {
  type ColumnMapping,
  convertColumn,
  IDENTIFIERS,
  isRecord,
  parseMapping,
  setMember,
  type UserAlias,
} from '../protocol/index.ts';
import type { Source } from '../service/index.ts';
import { toIdentifier } from '../service/profiles/index.ts';
import { type JsonValue, readJson, UnreadableValueError } from './json-value.ts';
import type { JsonRow } from './read-row.ts';
import { SourceError } from './source-error.ts';

/** Properties of `/users/track` that identify a user, with their columns. The first one present in the table is used. */
const IDENTIFIER_COLUMNS = IDENTIFIERS.map((name): (readonly [member: string, column: string])[] =>
  name === 'user_alias'
    ? [
        ['user_alias.alias_label', 'ALIAS_LABEL'],
        ['user_alias.alias_name', 'ALIAS_NAME'],
      ]
    : [[name, name.toUpperCase()]],
);
const PAYLOAD = 'PAYLOAD';
const UPDATED_AT = 'UPDATED_AT';

/** Returns the column names that a source reserves, apart from mapped columns. */
export const getReservedColumns = (source: Source): string[] => [
  source.updated_at ?? UPDATED_AT,
  PAYLOAD,
  ...IDENTIFIER_COLUMNS.flat().map(([, column]) => column),
  ...(source.key === undefined ? [] : [source.key]),
];

interface Mapped extends ColumnMapping {
  column: string;
}

const mapColumn = (column: string, written: string, source: Source): Mapped => {
  // Rows of deletes contain only identifiers, so the column rules of attributes apply.
  const array = source.rows === 'deletes' ? 'attributes' : source.rows;
  try {
    return { column, ...parseMapping(array, column, written) };
  } catch (error) {
    throw SourceError.from(error);
  }
};

const readPayload = (sent: JsonValue): { members: Record<string, unknown> } | { reason: string } => {
  try {
    const value = typeof sent === 'string' ? readJson(sent) : sent;
    return isRecord(value) ? { members: value } : { reason: 'is not a JSON object' };
  } catch (error) {
    if (!(error instanceof UnreadableValueError)) throw error;
    return { reason: error.message };
  }
};

const isAlias = (value: unknown): value is UserAlias =>
  isRecord(value) && typeof value['alias_label'] === 'string' && typeof value['alias_name'] === 'string';

/** Mapping from a table's columns to objects, resolved once per set of column names. */
export interface RowMapping {
  updatedAt: string;
  /** Columns of the key. Their values are joined with U+001F. */
  key: readonly string[];
  /** Columns to read, including those of the key. */
  used: readonly string[];
  /** Returns the identifier of the row's user; `null` if none. */
  getUserIdentifier(values: JsonRow['values']): string | null;
  /** Returns the object for `/users/track`, or the reason why the row is invalid. */
  toObject(row: JsonRow): { object: Record<string, unknown> } | { reason: string };
}

/** Resolves the columns that a source needs. Names are case-insensitive. Throws `SourceError` if one is missing or ambiguous. */
export const resolveMapping = (source: Source, names: readonly string[]): RowMapping => {
  const present = names.length === 0 ? 'there is none' : `there are ${names.slice(0, 30).join(', ')}`;
  const findColumn = (name: string): string | undefined => {
    const found = names.filter((each) => each.toLowerCase() === name.toLowerCase());
    if (found.length < 2) return found[0];
    throw new SourceError(
      `the column "${name}" is ambiguous, because names are case-insensitive: there are ${found.join(' and ')}`,
    );
  };
  const requireColumn = (name: string, purpose: string): string => {
    const found = findColumn(name);
    if (found === undefined)
      throw new SourceError(`the column "${name}" is missing (${purpose}); ${present}`);
    return found;
  };
  const updatedAt = requireColumn(source.updated_at ?? UPDATED_AT, 'when a row was changed');
  const mapped = Object.entries(source.columns ?? {}).map(([column, member]) =>
    mapColumn(requireColumn(column, `mapped to ${member}`), member, source),
  );
  const findIdentifier = (): Mapped[] => {
    for (const kind of IDENTIFIER_COLUMNS) {
      const columns = kind.flatMap(([member, name]) => {
        const mapping = mapped.find(({ path }) => path.join('.') === member);
        const column = mapping?.column ?? findColumn(name);
        if (column === undefined) return [];
        const { path, type } = mapping ?? mapColumn(column, member, source);
        // Converts numbers to the text that a CSV file would contain.
        return [{ column, path, type: type ?? 'text' }];
      });
      if (columns.length === kind.length) return columns;
    }
    throw new SourceError(
      `no column names a user: EXTERNAL_ID, ALIAS_NAME with ALIAS_LABEL, BRAZE_ID, EMAIL or PHONE is needed; ${present}`,
    );
  };
  const identifier = findIdentifier();
  const found = findColumn(PAYLOAD);
  if (source.rows === 'deletes' && found !== undefined) {
    throw new SourceError(
      `the table has a column "${found}", and its rows are deletes: this looks like a table of attributes, so no user is erased`,
    );
  }
  if (source.rows !== 'deletes' && mapped.length === 0 && found === undefined) {
    throw new SourceError('there is no column PAYLOAD, and `columns` maps none');
  }
  const payload = mapped.length === 0 ? found : undefined;
  const key =
    source.key === undefined
      ? identifier.map(({ column }) => column)
      : [requireColumn(source.key, 'the key')];
  // Identifiers come last, so that a payload cannot override them.
  const members = [
    ...mapped.filter(({ column }) => !identifier.some((each) => each.column === column)),
    ...identifier,
  ];
  const content = [...(payload === undefined ? [] : [payload]), ...members.map(({ column }) => column)];

  const toObject: RowMapping['toObject'] = ({ values, unreadable }) => {
    const unreadableColumn = content.find((column) => unreadable[column] !== undefined);
    if (unreadableColumn !== undefined)
      return { reason: `${unreadableColumn} ${unreadable[unreadableColumn]}` };
    const object: Record<string, unknown> = Object.create(null);
    if (payload !== undefined) {
      const read = readPayload(values[payload] ?? null);
      if ('reason' in read) return { reason: `${payload} ${read.reason}` };
      Object.assign(object, read.members);
    }
    for (const { column, path, type } of members) {
      const value = values[column] ?? null;
      const converted = value === null ? { value } : convertColumn(value, type);
      if ('expected' in converted) return { reason: `${column} is not ${converted.expected}` };
      setMember(object, path, converted.value);
    }
    // An alias creates a profile like every other identifier, because the row asserts that the user exists.
    if (object['user_alias'] !== undefined) object['_update_existing_only'] ??= false;
    return { object };
  };
  const identifierMembers = members.filter(({ path: [member] }) =>
    IDENTIFIERS.some((name) => name === member),
  );
  const getUserIdentifier: RowMapping['getUserIdentifier'] = (values) => {
    const named: Record<string, unknown> = {};
    for (const { column, path } of identifierMembers) {
      const value = values[column] ?? '';
      if (value !== '') setMember(named, path, formatValue(value));
    }
    for (const by of IDENTIFIERS) {
      const value = named[by];
      if (by !== 'user_alias' && typeof value === 'string') return toIdentifier({ by, value });
      if (by === 'user_alias' && isAlias(value)) return toIdentifier({ by, value });
    }
    return null;
  };
  const used = new Set([updatedAt, ...key, ...content]);
  return {
    updatedAt,
    key,
    used: names.filter((name) => used.has(name)),
    getUserIdentifier,
    toObject,
  };
};

/** Maximum indexed text in bytes. PostgreSQL index rows are limited to about 2,700. */
export const MAX_INDEXED_BYTES = 2_000;

/**
 * Joins the parts of a key with U+001F, like the SQL. Returns `null` if a part is missing or unreadable, or contains a character
 * that databases cannot store.
 */
export const joinKey = ({ values, unreadable }: JsonRow, columns: readonly string[]): string | null => {
  const parts = columns.map((column) => (unreadable[column] === undefined ? (values[column] ?? '') : ''));
  if (parts.some((part) => part === '')) return null;
  const key = parts.map(formatValue).join('\u001f');
  return key.includes('\u0000') || Buffer.byteLength(key) > MAX_INDEXED_BYTES ? null : key;
};

const formatValue = (value: JsonValue): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);
