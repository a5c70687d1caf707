import {
  fitsCharacters,
  fitsJson,
  invalidNested,
  isRecord,
  isStorableNumber,
  isStorableText,
  MAX_ARRAY_ELEMENTS,
  MAX_NAME_CHARACTERS,
  MAX_NESTED_BYTES,
  MAX_NESTED_DEPTH,
  MAX_STRING_CHARACTERS,
  notValid,
} from '../../protocol/index.ts';
import { setOwn } from '../profiles/profile.ts';
import { isFarDate, parseDate } from './dates.ts';

/** Returns the size of the value's JSON in UTF-8 bytes. */
export const jsonBytes = (value: unknown): number => {
  if (typeof value === 'number') return String(value).length;
  if (typeof value === 'boolean') return value ? 4 : 5;
  return Buffer.byteLength(JSON.stringify(value));
};

/** Returns the newest elements of a list, at most 500 elements and 100 KiB. Drops the oldest elements, which are at the front. */
export const newest = (list: Scalar[]): Scalar[] => {
  const kept = list.length > MAX_ARRAY_ELEMENTS ? list.slice(-MAX_ARRAY_ELEMENTS) : list;
  if (fitsJson(kept, MAX_NESTED_BYTES)) return kept;
  // Adds one byte per element for its comma. The JSON is one byte longer, because it has two brackets but no comma after the last
  // element.
  const bytes = kept.map((value) => jsonBytes(value) + 1);
  let total = bytes.reduce((sum, each) => sum + each, 1);
  let first = 0;
  for (; total > MAX_NESTED_BYTES; first += 1) total -= bytes[first]!;
  return kept.slice(first);
};

/**
 * Error of a nested value. `invalid_value` is a `null` or an invalid time, which drops all nested updates of the request.
 * `limit_exceeded` is a key, text, number, size or depth outside the limits, which drops only this attribute.
 */
type NestedError = 'invalid_value' | 'limit_exceeded';

const TIME_KEY = '$time';

const isKey = (key: string): boolean =>
  key !== '' && !/[ .$]/.test(key) && fitsCharacters(key, MAX_NAME_CHARACTERS) && isStorableText(key);

/** Whether the value is `{ "$time": … }`, the only operator allowed inside a nested value. */
export const isTime = (value: Record<string, unknown>): boolean => {
  // Checks the operator first, because listing the keys of a large object is slow.
  return Object.hasOwn(value, TIME_KEY) && Object.keys(value).length === 1;
};

/** Marks a date with a year that cannot be stored. The result omits it. */
const NOT_STORED = Symbol('not stored');

const checked = (value: unknown, depth: number): unknown | { invalid: NestedError } => {
  if (typeof value === 'string') {
    return fitsCharacters(value, MAX_STRING_CHARACTERS) && isStorableText(value) ? value : LIMIT_EXCEEDED;
  }
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return isStorableNumber(value) ? value : LIMIT_EXCEEDED;
  if (typeof value !== 'object' || value === null) return INVALID_VALUE;
  if (depth > MAX_NESTED_DEPTH) return LIMIT_EXCEEDED;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const element of value) {
      const kept = checked(element, depth + 1);
      if (kept === LIMIT_EXCEEDED || kept === INVALID_VALUE) return kept;
      if (kept !== NOT_STORED) list.push(kept);
    }
    return list;
  }
  if (!isRecord(value)) return LIMIT_EXCEEDED;
  const record = value;
  if (isTime(record)) {
    const time = record[TIME_KEY];
    if (typeof time !== 'string') return INVALID_VALUE;
    if (isFarDate(time)) return NOT_STORED;
    return parseDate(time) === null ? INVALID_VALUE : record;
  }
  const keys = Object.keys(record);
  const members: unknown[] = [];
  let isUnchanged = true;
  for (const key of keys) {
    if (!isKey(key)) return LIMIT_EXCEEDED;
    const member = checked(record[key], depth + 1);
    if (member === LIMIT_EXCEEDED || member === INVALID_VALUE) return member;
    if (member !== record[key]) isUnchanged = false;
    members.push(member);
  }
  // Objects with distinct keys are expensive to copy.
  if (isUnchanged) return record;
  const kept: Record<string, unknown> = {};
  for (const [index, key] of keys.entries())
    if (members[index] !== NOT_STORED) setOwn(kept, key, members[index]);
  return kept;
};

const LIMIT_EXCEEDED = Symbol('limit exceeded');
const INVALID_VALUE = Symbol('invalid value');

/** Checks a nested object or an array of objects. Returns the value to store; `undefined` if nothing is left. */
const checkNested = (value: unknown): { value: unknown } | { invalid: NestedError } => {
  const kept = checked(value, 1);
  if (kept === INVALID_VALUE) return { invalid: 'invalid_value' };
  if (kept === NOT_STORED) return { value: undefined };
  if (kept === LIMIT_EXCEEDED || !fitsJson(kept, MAX_NESTED_BYTES)) return { invalid: 'limit_exceeded' };
  return { value: kept };
};

/** Whether nesting is at most `max` levels deep. */
export const isShallow = (value: unknown, max = MAX_NESTED_DEPTH): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (max === 0) return false;
  return Object.values(value).every((member) => isShallow(member, max - 1));
};

export type Scalar = string | number | boolean;

/** Checked change of one custom attribute. */
export type CustomChange =
  | { name: string; kind: 'set'; value: Scalar }
  | { name: string; kind: 'clear' }
  | { name: string; kind: 'increment'; by: number }
  | { name: string; kind: 'list'; value: Scalar[] }
  | { name: string; kind: 'edit_list'; add: Scalar[]; remove: Scalar[] }
  | { name: string; kind: 'object'; value: Record<string, unknown> }
  | { name: string; kind: 'objects'; value: Record<string, unknown>[] }
  | { name: string; kind: 'edit_objects'; edit: ObjectsEdit };

export interface ObjectsEdit {
  add: Record<string, unknown>[];
  update: { key: string; value: unknown; object: Record<string, unknown> }[];
  remove: { key: string; value: unknown }[];
}

export const isNestedChange = ({ kind }: CustomChange): boolean =>
  kind === 'object' || kind === 'objects' || kind === 'edit_objects';

/** Error of a custom attribute. `nested` is `true` if it drops every nested value of the request. */
interface CustomError {
  error: string;
  nested: boolean;
}

const invalid = (name: string): CustomError => ({ error: notValid(name), nested: false });

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string'
    ? fitsCharacters(value, MAX_STRING_CHARACTERS) && isStorableText(value)
    : typeof value === 'boolean' || (typeof value === 'number' && isStorableNumber(value));

const isScalars = (value: unknown): value is Scalar[] => Array.isArray(value) && value.every(isScalar);

const isRecords = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.every(isRecord);

const hasOnly = (object: Record<string, unknown>, names: readonly string[]): boolean => {
  const keys = Object.keys(object);
  return keys.length > 0 && keys.every((key) => names.includes(key));
};

const LIST_EDITS = ['add', 'remove'];
const OBJECTS_EDITS = ['$add', '$update', '$remove'];

/** Checks the name and value of one custom attribute (contract 3.6). */
export const checkCustom = (name: string, value: unknown): CustomChange | CustomError => {
  if (!fitsCharacters(name, MAX_NAME_CHARACTERS) || name === '' || !isStorableText(name))
    return invalid(name);
  if (value === null) return { name, kind: 'clear' };
  if (isScalar(value)) return { name, kind: 'set', value };
  if (Array.isArray(value)) {
    if (isScalars(value)) return { name, kind: 'list', value: newest([...new Set(value)]) };
    const isNested = value.every((element) => isRecord(element) || element === null);
    if (!isNested || !value.some(isRecord)) return invalid(name);
    const nested = checkNested(value);
    if ('invalid' in nested) return toCustomError(name, nested.invalid);
    return isRecords(nested.value) ? { name, kind: 'objects', value: nested.value } : invalid(name);
  }
  if (!isRecord(value)) return invalid(name);
  if (hasOnly(value, ['inc'])) {
    const by = value['inc'];
    return typeof by === 'number' && Number.isSafeInteger(by)
      ? { name, kind: 'increment', by }
      : invalid(name);
  }
  if (hasOnly(value, ['$time'])) {
    const time = value['$time'];
    return typeof time === 'string' && parseDate(time) !== null
      ? { name, kind: 'set', value: time }
      : invalid(name);
  }
  if (hasOnly(value, LIST_EDITS)) {
    const { add = [], remove = [] } = value;
    return isScalars(add) && isScalars(remove) ? { name, kind: 'edit_list', add, remove } : invalid(name);
  }
  if (hasOnly(value, OBJECTS_EDITS)) return checkObjectsEdit(name, value);
  const nested = checkNested(value);
  if ('invalid' in nested) return toCustomError(name, nested.invalid);
  return isRecord(nested.value) ? { name, kind: 'object', value: nested.value } : invalid(name);
};

const toCustomError = (name: string, problem: NestedError): CustomError =>
  problem === 'invalid_value' ? { error: invalidNested(name), nested: true } : invalid(name);

const checkObjectsEdit = (name: string, value: Record<string, unknown>): CustomChange | CustomError => {
  const edit: ObjectsEdit = { add: [], update: [], remove: [] };
  const { $add = [], $update = [], $remove = [] } = value;
  if (!Array.isArray($add) || !Array.isArray($update) || !Array.isArray($remove)) return invalid(name);
  for (const object of $add) {
    const nested = checkNested(object);
    if ('invalid' in nested) return toCustomError(name, nested.invalid);
    if (nested.value === undefined) continue;
    if (!isRecord(nested.value)) return invalid(name);
    edit.add.push(nested.value);
  }
  for (const entry of $update) {
    if (!isRecord(entry)) return invalid(name);
    const { $identifier_key: key, $identifier_value: value, $new_object: object } = entry;
    if (typeof key !== 'string' || !isScalar(value)) return invalid(name);
    const nested = checkNested(object);
    if ('invalid' in nested) return toCustomError(name, nested.invalid);
    if (nested.value === undefined) continue;
    if (!isRecord(nested.value)) return invalid(name);
    edit.update.push({ key, value, object: nested.value });
  }
  for (const entry of $remove) {
    if (!isRecord(entry)) return invalid(name);
    const { $identifier_key: key, $identifier_value: value } = entry;
    if (typeof key !== 'string' || !isScalar(value)) return invalid(name);
    edit.remove.push({ key, value });
  }
  return { name, kind: 'edit_objects', edit };
};
