import { parse as parseArray } from 'postgres-array';
import { DAY_MS } from '../protocol/index.ts';
import { OUT_OF_RANGE } from './format-time.ts';
import {
  dropTrailing,
  type JsonValue,
  type ReadValue,
  readBytes,
  readDecimal,
  readDouble,
  readInteger,
  readJson,
  UnreadableValueError,
} from './json-value.ts';

type ReadText = (text: string) => JsonValue;

const INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:\+00)?$/;
const TIME_OF_DAY = /^(\d\d:\d\d:\d\d)\.(\d{1,6})$/;

const failTime = (text: string): never => {
  throw new UnreadableValueError(
    /infinity/.test(text) ? `is ${text}, which is not a time` : OUT_OF_RANGE,
    text,
  );
};

const readDate: ReadText = (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? text : failTime(text));

/** Reader of both timestamp types. The session's time zone is UTC, and a timestamp without a zone is UTC. */
const readInstant: ReadText = (text) => {
  const [, date, time, fraction = ''] = INSTANT.exec(text) ?? failTime(text);
  return `${date}T${time}.${fraction.padEnd(6, '0')}Z`;
};

const readTimeOfDay: ReadText = (text) => {
  const [, time, fraction = ''] = TIME_OF_DAY.exec(text) ?? [];
  return time === undefined ? text : `${time}.${fraction.padEnd(6, '0')}`;
};

const keepText: ReadText = (text) => text;
const float: ReadText = (text) => readDouble(Number(text));
const integer: ReadText = (text) => readInteger(BigInt(text));

/** Readers by type OID. Other types keep PostgreSQL's text output. */
const READERS: Readonly<Record<number, ReadText>> = {
  16: (text) => text === 't', // bool
  17: (text) => readBytes(Buffer.from(text.slice('\\x'.length), 'hex')), // bytea
  20: integer, // int8
  21: integer, // int2
  23: integer, // int4
  26: integer, // oid
  114: readJson, // json
  700: float, // float4
  701: float, // float8
  1042: (text) => dropTrailing(' ', text), // char(n): trailing blanks are insignificant
  1082: readDate, // date
  1083: readTimeOfDay, // time
  1114: readInstant, // timestamp
  1184: readInstant, // timestamptz
  1700: readDecimal, // numeric
  3802: readJson, // jsonb
};

/** Types that can order rows by modification time: `date`, `timestamp` and `timestamptz`. */
export const TIME_TYPES: readonly number[] = [1082, 1114, 1184];
export const TIMESTAMPTZ = 1184;
export const DATE = 1082;

/** Returns the resolution of a time column in microseconds. `modifier` is the precision of a timestamp; -1 if none. */
export const timeResolutionUs = (type: number, modifier: number): number => {
  if (type === DATE) return DAY_MS * 1_000;
  return modifier < 0 ? 1 : 10 ** (6 - modifier);
};

/** Session settings of the output format that the readers require, because roles and databases may have other defaults. */
export const TYPE_SETTINGS = {
  everywhere: ["TimeZone = 'UTC'", "DateStyle = 'ISO'"],
  /** Settings that Redshift does not support. */
  postgres: ["IntervalStyle = 'iso_8601'", "bytea_output = 'hex'", 'extra_float_digits = 1'],
};

/** Query of the element types of array types, for `readerFor`. Excludes `box[]`, whose elements contain commas. */
export const ARRAY_TYPES = `SELECT array_type.oid, CASE WHEN element.typtype = 'd' THEN element.typbasetype ELSE element.oid END AS element
  FROM pg_type AS array_type JOIN pg_type AS element ON element.oid = array_type.typelem
  WHERE array_type.typlen = -1 AND element.typdelim = ',' AND array_type.oid IN`;

const readElements = (readElement: ReadText): ReadText => {
  const read = (value: unknown): JsonValue =>
    Array.isArray(value) ? value.map(read) : value === null ? null : readElement(String(value));
  return (text) => (text.startsWith('{') || text.startsWith('[') ? read(parseArray(text)) : text);
};

/** Returns a reader that converts the text of a value to JSON. `element` is the element type of an array. */
export const readerFor = (type: number, element: number | undefined): ReadValue => {
  const read =
    element === undefined ? (READERS[type] ?? keepText) : readElements(READERS[element] ?? keepText);
  return (value) => read(String(value));
};
