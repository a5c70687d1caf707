import { IDENTIFIERS, type MemberPath, memberPath, setMember } from '../protocol/index.ts';
import type { Source } from '../service/index.ts';
import { SourceError } from './source-error.ts';

/** Columns that name a user, by the member of `/users/track` that they become. The first kind that a table has counts. */
const NAMES_OF_USERS = IDENTIFIERS.map((name): (readonly [member: string, column: string])[] =>
  name === 'user_alias'
    ? [
        ['user_alias.alias_label', 'ALIAS_LABEL'],
        ['user_alias.alias_name', 'ALIAS_NAME'],
      ]
    : [[name, name.toUpperCase()]],
);
const PAYLOAD = 'PAYLOAD';
const UPDATED_AT = 'UPDATED_AT';
const WRONG = Symbol('wrong');

/** The names that a source gives a meaning to, apart from those that it maps. */
export const meantBy = (source: Source): string[] => [
  source.updated_at ?? UPDATED_AT,
  PAYLOAD,
  ...NAMES_OF_USERS.flat().map(([, column]) => column),
  ...(source.key === undefined ? [] : [source.key]),
];

type Read = (value: unknown) => unknown;
const ofText =
  (read: (text: string) => unknown): Read =>
  (value) =>
    typeof value === 'string' ? read(value.trim()) : value;
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return WRONG;
  }
};
const TYPES: Readonly<Record<string, Read>> = {
  text: (value) => (typeof value === 'number' ? String(value) : value),
  number: ofText((text) => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : WRONG)),
  boolean: ofText(
    (text) => ({ true: true, false: false, '1': true, '0': false })[text.toLowerCase()] ?? WRONG,
  ),
  json: ofText(parsed),
};
const as_is: Read = (value) => value;

/** What a column becomes. */
interface Mapped {
  column: string;
  path: MemberPath;
  type: string | undefined;
}

const mappedOf = (column: string, written: string, source: Source): Mapped => {
  const [, member = '', type] = /^(.*?)(?::([^:]*))?$/s.exec(written) ?? [];
  if (type !== undefined && !Object.hasOwn(TYPES, type)) {
    throw new SourceError(
      `the column "${column}" has the type "${type}"; write ${Object.keys(TYPES).join(', ')} after the colon`,
    );
  }
  // Rows of deletes name users alone, as attributes may.
  const array = source.rows === 'deletes' ? 'attributes' : source.rows;
  return { column, path: memberPath(array, member), type };
};

/** How the columns of a table make rows: found once, by the names that the table has. */
export interface Columns {
  updatedAt: string;
  /** Joined by U+001F they are the key. */
  key: readonly string[];
  /** Whom the row is about, where that is an external ID. */
  externalIdOf(values: Record<string, unknown>): string | null;
  /** Makes the object of `/users/track`, or says what is wrong with the row. */
  objectOf(values: Record<string, unknown>): { object: Record<string, unknown> } | { reason: string };
}

/** Finds the columns that a source needs. Names are the same in capitals or not. Throws where one is not there. */
export const columnsOf = (source: Source, names: readonly string[]): Columns => {
  const find = (name: string) =>
    names.find((each) => each === name) ?? names.find((each) => each.toLowerCase() === name.toLowerCase());
  const present = names.length === 0 ? 'there is none' : `there are ${names.slice(0, 30).join(', ')}`;
  const need = (name: string, why: string): string => {
    const found = find(name);
    if (found === undefined) throw new SourceError(`the column "${name}" is missing (${why}); ${present}`);
    return found;
  };
  const updatedAt = need(source.updated_at ?? UPDATED_AT, 'when a row was changed');
  const mapped = Object.entries(source.columns ?? {}).map(([column, member]) =>
    mappedOf(need(column, `mapped to ${member}`), member, source),
  );
  const columnOf = (member: string, column: string) =>
    mapped.find(({ path }) => path.join('.') === member)?.column ?? find(column);
  const identifier = NAMES_OF_USERS.map((kind) =>
    kind.flatMap(([member, name]) => {
      const column = columnOf(member, name);
      return column === undefined ? [] : [mappedOf(column, member, source)];
    }),
  ).find((columns, index) => columns.length === NAMES_OF_USERS[index]!.length);
  if (!identifier) {
    throw new SourceError(
      `no column names a user: EXTERNAL_ID, ALIAS_NAME with ALIAS_LABEL, BRAZE_ID, EMAIL or PHONE is needed; ${present}`,
    );
  }
  const payload = find(PAYLOAD);
  if (source.rows === 'deletes' && payload !== undefined) {
    throw new SourceError(
      `the table has a column "${payload}", and its rows are deletes: this looks like a table of attributes, so no user is erased`,
    );
  }
  if (source.rows !== 'deletes' && mapped.length === 0 && payload === undefined) {
    throw new SourceError('there is no column PAYLOAD, and `columns` maps none');
  }
  const key =
    source.key === undefined ? identifier.map(({ column }) => column) : [need(source.key, 'the key')];
  // What names the user last: a payload cannot name another one.
  const members = [
    ...mapped.filter(({ column }) => !identifier.some((each) => each.column === column)),
    ...identifier,
  ];

  const objectOf: Columns['objectOf'] = (values) => {
    // Without a prototype: a column may have any name.
    const object: Record<string, unknown> = Object.create(null);
    if (payload !== undefined && mapped.length === 0) {
      const sent = values[payload];
      const body = typeof sent === 'string' ? parsed(sent) : sent;
      if (typeof body !== 'object' || body === null || Array.isArray(body)) {
        return { reason: `${payload} is not a JSON object` };
      }
      Object.assign(object, body);
    }
    for (const { column, path, type } of members) {
      const value = values[column] ?? null;
      const read = value === null ? null : (type === undefined ? as_is : TYPES[type]!)(value);
      if (read === WRONG) return { reason: `${column} is not a ${type}` };
      setMember(object, path, read);
    }
    // The row says that there is such a user, so an alias makes one as every other identifier does.
    if (object['user_alias'] !== undefined) object['_update_existing_only'] ??= false;
    return { object };
  };
  const externalId = identifier.find(({ path }) => path[0] === 'external_id')?.column;
  const externalIdOf: Columns['externalIdOf'] = (values) =>
    externalId === undefined || (values[externalId] ?? null) === null ? null : textOf(values[externalId]);
  return { updatedAt, key, externalIdOf, objectOf };
};

/** Bytes of a text in an index: one of PostgreSQL takes 2,700. */
export const MAX_INDEXED_BYTES = 2_000;

/** Joins the parts of a key, as SQL does; `null` where one is missing, or where no database could hold it. */
export const keyOf = (values: Record<string, unknown>, columns: readonly string[]): string | null => {
  const parts = columns.map((column) => values[column] ?? '');
  if (parts.some((part) => part === '')) return null;
  const key = parts.map(textOf).join('\u001f');
  return key.includes('\u0000') || Buffer.byteLength(key) > MAX_INDEXED_BYTES ? null : key;
};

const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);
