import type { FileMetaData, parquetSchema, SchemaElement } from 'hyparquet';
import { isRecord } from '../../protocol/index.ts';
import { formatDate, formatInstant, formatTimeOfDay } from '../format-time.ts';
import {
  type JsonValue,
  type ReadValue,
  readBytes,
  readDecimal,
  readDouble,
  readFloat,
  readInteger,
  readJson,
  readText,
  UnreadableValueError,
} from '../json-value.ts';

/** Column, or field of a nested column. */
export type Field = ReturnType<typeof parquetSchema>;

const UNITS = { MILLIS: 1_000_000n, MICROS: 1_000n, NANOS: 1n };

const unscale = (unscaled: bigint, scale: number): string => {
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
};

/** Parses a big-endian two's complement integer. */
const toBigInt = (bytes: Uint8Array): bigint =>
  bytes.length === 0
    ? 0n
    : BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));

const fail = (type: string): ReadValue => {
  return () => {
    throw new UnreadableValueError(`has the Parquet type ${type}, which is not read`, type);
  };
};

/** Creates a reader for values of one JavaScript type. The library returns another type only for a damaged file. */
const readerFor =
  <Value>(isValue: (value: unknown) => value is Value, read: (value: Value) => JsonValue): ReadValue =>
  (value) => {
    if (!isValue(value))
      throw new UnreadableValueError('does not have the type of its column', String(value));
    return read(value);
  };

const numbers = (read: (value: number) => JsonValue): ReadValue =>
  readerFor((value) => typeof value === 'number', read);
const integers = (read: (value: bigint) => JsonValue): ReadValue =>
  readerFor(
    (value) => typeof value === 'number' || typeof value === 'bigint',
    (value) => read(BigInt(value)),
  );
const bytes = (read: (value: Uint8Array) => JsonValue): ReadValue =>
  readerFor((value) => value instanceof Uint8Array, read);
const booleans = readerFor(
  (value) => typeof value === 'boolean',
  (value) => value,
);

const integer = integers(readInteger);
const text = bytes((value) => readText(value));

const readerOfUnit = (unit: keyof typeof UNITS, format: (ns: bigint) => string): ReadValue =>
  integers((value) => format(value * UNITS[unit]));

/** Returns the reader for the physical type of a column without a logical type. */
const physicalReader = ({ type }: SchemaElement): ReadValue => {
  switch (type) {
    case 'BOOLEAN':
      return booleans;
    case 'INT96':
      return integers(formatInstant);
    case 'FLOAT':
      return numbers(readFloat);
    case 'DOUBLE':
      return numbers(readDouble);
    case 'INT32':
    case 'INT64':
      return integer;
    default:
      return bytes(readBytes);
  }
};

/** Returns the reader for the logical type, or for the converted type of older writers. */
const leafReader = (element: SchemaElement, isOfImpala: boolean): ReadValue => {
  const { logical_type: logical, converted_type: converted } = element;
  const scale = (logical?.type === 'DECIMAL' ? logical.scale : element.scale) ?? 0;
  if (logical?.type === 'TIMESTAMP') return readerOfUnit(logical.unit, formatInstant);
  if (logical?.type === 'TIME') return readerOfUnit(logical.unit, formatTimeOfDay);
  if (logical?.type === 'INTEGER') return logical.isSigned ? integer : unsigned(element);
  switch (logical?.type ?? converted) {
    case 'DECIMAL':
      return readerFor(
        (value) => value instanceof Uint8Array || typeof value === 'number' || typeof value === 'bigint',
        (value) => readDecimal(unscale(value instanceof Uint8Array ? toBigInt(value) : BigInt(value), scale)),
      );
    case 'DATE':
      return numbers(formatDate);
    case 'TIMESTAMP_MILLIS':
      return readerOfUnit('MILLIS', formatInstant);
    case 'TIMESTAMP_MICROS':
      return readerOfUnit('MICROS', formatInstant);
    case 'TIME_MILLIS':
      return readerOfUnit('MILLIS', formatTimeOfDay);
    case 'TIME_MICROS':
      return readerOfUnit('MICROS', formatTimeOfDay);
    case 'STRING':
    case 'ENUM':
    case 'UTF8':
      return text;
    case 'JSON':
      return bytes((value) => readJson(readText(value)));
    case 'FLOAT16':
      return numbers(readDouble);
    case 'UINT_32':
    case 'UINT_64':
      return unsigned(element);
    case 'BSON':
    case 'INTERVAL':
    case 'GEOMETRY':
    case 'GEOGRAPHY':
      return fail(logical?.type ?? converted!);
    default:
      return isOfImpala && element.type === 'BYTE_ARRAY' ? text : physicalReader(element);
  }
};

const unsigned = ({ type }: SchemaElement): ReadValue => {
  const bits = type === 'INT64' ? 64 : 32;
  return integers((value) => readInteger(BigInt.asUintN(bits, value)));
};

const isType = ({ element }: Field, type: 'LIST' | 'MAP'): boolean =>
  element.converted_type === type || element.logical_type?.type === type;

/** Returns the element field of a list. Most writers wrap each element in a group. */
const getElement = (list: Field): Field => {
  const repeated = list.children[0]!;
  return repeated.children.length === 1 ? repeated.children[0]! : repeated;
};

/** Returns a reader that converts a value from the library, assembled from physical values, to JSON. See `physical`. */
export const createReader = (field: Field, { created_by: writer = '' }: FileMetaData): ReadValue => {
  const isOfImpala = /^impala/i.test(writer);
  const readers = new Map<Field, ReadValue>();
  const readLeaf = (leaf: Field): ReadValue => {
    const reader = readers.get(leaf) ?? leafReader(leaf.element, isOfImpala);
    readers.set(leaf, reader);
    return reader;
  };
  const read = (at: Field, value: unknown): JsonValue => {
    if (value === null || value === undefined) return null;
    if (at.element.logical_type?.type === 'VARIANT') return fail('VARIANT')(value);
    if (Array.isArray(value)) {
      // Treats a repeated field outside a list as a list.
      const element = isType(at, 'LIST') ? getElement(at) : at;
      return value.map((each) => read(element, each));
    }
    if (at.children.length === 0) return readLeaf(at)(value);
    if (!isRecord(value)) return fail('group')(value);
    if (isType(at, 'MAP')) return readMap(at, value);
    return Object.fromEntries(
      at.children.map((child) => [child.element.name, read(child, value[child.element.name])]),
    );
  };
  const readMap = (map: Field, members: Record<string, unknown>): JsonValue => {
    const [, element] = map.children[0]!.children;
    const entries = Object.entries(members).map(([key, value]) => {
      // U+FFFD shows that the library replaced invalid bytes.
      if (key.includes('\ufffd')) throw new UnreadableValueError('has a key that is not UTF-8', key);
      return [key, element ? read(element, value) : null];
    });
    return Object.fromEntries(entries);
  };
  return (value) => read(field, value);
};

/**
 * Returns the metadata without logical types, so that the library returns physical values. Otherwise the library rounds decimals
 * and times, and replaces invalid UTF-8. Map keys keep their type, because the library uses them as property names. Half floats
 * also keep it, because only the library decodes them.
 */
export const physical = (metadata: FileMetaData): FileMetaData => {
  const strip = (element: SchemaElement, parent: SchemaElement | undefined): SchemaElement => {
    const isKey =
      element.name === 'key' && parent?.num_children === 2 && parent.repetition_type === 'REPEATED';
    const type = element.logical_type?.type;
    // The library recognizes lists and maps only by the converted type.
    if (element.num_children)
      return type === 'LIST' || type === 'MAP' ? { ...element, converted_type: type } : element;
    if (isKey || type === 'FLOAT16') return element;
    const { converted_type: _, logical_type: __, ...bare } = element;
    return bare;
  };
  const { schema } = metadata;
  return { ...metadata, schema: schema.map((element, index) => strip(element, schema[index - 1])) };
};

/** Parser of INT96 times, the only physical type that the library converts. Keeps nanoseconds. */
export const PARSERS = { timestampFromNanoseconds: (ns: bigint) => ns };
