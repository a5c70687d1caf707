import {
  fitsCharacters,
  invalidNested,
  isRecord,
  isStorableNumber,
  isStorableText,
  MAX_NAME_CHARACTERS,
  MAX_STRING_CHARACTERS,
  notValid,
} from '../../protocol/index.ts';
import { parseDate } from './dates.ts';
import { checkNested } from './nested.ts';
import { newest } from './newest.ts';

export type Scalar = string | number | boolean;

/** One sent custom attribute, after checking. What is `nested` falls with any bad nested value of the request. */
export type CustomChange =
  | { name: string; kind: 'set'; value: Scalar }
  | { name: string; kind: 'clear' }
  | { name: string; kind: 'increment'; by: number }
  | { name: string; kind: 'list'; value: Scalar[] }
  | { name: string; kind: 'edit list'; add: Scalar[]; remove: Scalar[] }
  | { name: string; kind: 'object'; value: Record<string, unknown> }
  | { name: string; kind: 'objects'; value: Record<string, unknown>[] }
  | { name: string; kind: 'edit objects'; edit: ObjectsEdit };

export interface ObjectsEdit {
  add: Record<string, unknown>[];
  update: { key: string; value: unknown; object: Record<string, unknown> }[];
  remove: { key: string; value: unknown }[];
}

export const isNestedChange = ({ kind }: CustomChange): boolean =>
  kind === 'object' || kind === 'objects' || kind === 'edit objects';

/** `nested` is true for the fault that costs the request all its nested updates. */
export interface CustomProblem {
  problem: string;
  nested: boolean;
}

const invalid = (name: string): CustomProblem => ({ problem: notValid(name), nested: false });

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string'
    ? fitsCharacters(value, MAX_STRING_CHARACTERS) && isStorableText(value)
    : typeof value === 'boolean' || (typeof value === 'number' && isStorableNumber(value));

const isScalars = (value: unknown): value is Scalar[] => Array.isArray(value) && value.every(isScalar);

const hasOnly = (object: Record<string, unknown>, names: readonly string[]): boolean => {
  const keys = Object.keys(object);
  return keys.length > 0 && keys.every((key) => names.includes(key));
};

const LIST_EDITS = ['add', 'remove'];
const OBJECTS_EDITS = ['$add', '$update', '$remove'];

/** Checks the name and the value of one custom attribute (contract 3.6). */
export const checkCustom = (name: string, value: unknown): CustomChange | CustomProblem => {
  if (!fitsCharacters(name, MAX_NAME_CHARACTERS) || name === '' || !isStorableText(name))
    return invalid(name);
  if (value === null) return { name, kind: 'clear' };
  if (isScalar(value)) return { name, kind: 'set', value };
  if (Array.isArray(value)) {
    if (isScalars(value)) return { name, kind: 'list', value: newest([...new Set(value)]) };
    const isNested = value.every((element) => isRecord(element) || element === null);
    if (!isNested || !value.some(isRecord)) return invalid(name);
    const nested = checkNested(value);
    if ('fault' in nested) return faulty(name, nested.fault);
    return { name, kind: 'objects', value: nested.value as Record<string, unknown>[] };
  }
  if (!isRecord(value)) return invalid(name);
  if (hasOnly(value, ['inc'])) {
    return Number.isSafeInteger(value['inc'])
      ? { name, kind: 'increment', by: value['inc'] as number }
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
    return isScalars(add) && isScalars(remove) ? { name, kind: 'edit list', add, remove } : invalid(name);
  }
  if (hasOnly(value, OBJECTS_EDITS)) return checkObjectsEdit(name, value);
  const nested = checkNested(value);
  if ('fault' in nested) return faulty(name, nested.fault);
  return { name, kind: 'object', value: nested.value as Record<string, unknown> };
};

const faulty = (name: string, fault: 'value' | 'form'): CustomProblem =>
  fault === 'value' ? { problem: invalidNested(name), nested: true } : invalid(name);

const checkObjectsEdit = (name: string, value: Record<string, unknown>): CustomChange | CustomProblem => {
  const edit: ObjectsEdit = { add: [], update: [], remove: [] };
  const { $add = [], $update = [], $remove = [] } = value;
  if (!Array.isArray($add) || !Array.isArray($update) || !Array.isArray($remove)) return invalid(name);
  for (const object of $add) {
    const nested = checkNested(object);
    if ('fault' in nested) return faulty(name, nested.fault);
    if (nested.value === undefined) continue;
    if (!isRecord(nested.value)) return invalid(name);
    edit.add.push(nested.value);
  }
  for (const entry of $update) {
    if (!isRecord(entry)) return invalid(name);
    const { $identifier_key: key, $identifier_value: value, $new_object: object } = entry;
    if (typeof key !== 'string' || !isScalar(value)) return invalid(name);
    const nested = checkNested(object);
    if ('fault' in nested) return faulty(name, nested.fault);
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
  return { name, kind: 'edit objects', edit };
};
