import type { FileMetaData, parquetSchema, SchemaElement } from 'hyparquet';
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

const integer: ReadValue = (value) => readInteger(BigInt(value as number | bigint));
const text: ReadValue = (value) => readText(value as Uint8Array);

const readerOfUnit = (unit: keyof typeof UNITS, format: (ns: bigint) => string): ReadValue => {
  return (value) => format(BigInt(value as number | bigint) * UNITS[unit]);
};

/** Returns the reader for the physical type of a column without a logical type. */
const physicalReader = ({ type }: SchemaElement): ReadValue => {
  switch (type) {
    case 'BOOLEAN':
      return (value) => value as boolean;
    case 'INT96':
      return (value) => formatInstant(value as bigint);
    case 'FLOAT':
      return (value) => readFloat(value as number);
    case 'DOUBLE':
      return (value) => readDouble(value as number);
    case 'INT32':
    case 'INT64':
      return integer;
    default:
      return (value) => readBytes(value as Uint8Array);
  }
};

/** Returns the reader for the logical type, or for the converted type of older writers. */
const leafReader = (element: SchemaElement, isOfImpala: boolean): ReadValue => {
  const { logical_type: logical, converted_type: converted } = element;
  const scale = (logical?.type === 'DECIMAL' ? logical.scale : element.scale) ?? 0;
  switch (logical?.type ?? converted) {
    case 'DECIMAL':
      return (value) => {
        const unscaled = value instanceof Uint8Array ? toBigInt(value) : BigInt(value as number | bigint);
        return readDecimal(unscale(unscaled, scale));
      };
    case 'DATE':
      return (value) => formatDate(value as number);
    case 'TIMESTAMP':
      return readerOfUnit((logical as { unit: keyof typeof UNITS }).unit, formatInstant);
    case 'TIMESTAMP_MILLIS':
      return readerOfUnit('MILLIS', formatInstant);
    case 'TIMESTAMP_MICROS':
      return readerOfUnit('MICROS', formatInstant);
    case 'TIME':
      return readerOfUnit((logical as { unit: keyof typeof UNITS }).unit, formatTimeOfDay);
    case 'TIME_MILLIS':
      return readerOfUnit('MILLIS', formatTimeOfDay);
    case 'TIME_MICROS':
      return readerOfUnit('MICROS', formatTimeOfDay);
    case 'STRING':
    case 'ENUM':
    case 'UTF8':
      return text;
    case 'JSON':
      return (value) => readJson(readText(value as Uint8Array));
    case 'FLOAT16':
      return (value) => readDouble(value as number);
    case 'INTEGER':
      return (logical as { isSigned: boolean }).isSigned ? integer : unsigned(element);
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
  return (value) => readInteger(BigInt.asUintN(bits, BigInt(value as number | bigint)));
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
    const members = value as Record<string, unknown>;
    if (isType(at, 'MAP')) return readMap(at, members);
    return Object.fromEntries(
      at.children.map((child) => [child.element.name, read(child, members[child.element.name])]),
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
