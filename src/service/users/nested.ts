import {
  fitsCharacters,
  fitsJson,
  isStorableNumber,
  isStorableText,
  MAX_NAME_CHARACTERS,
  MAX_NESTED_BYTES,
  MAX_NESTED_DEPTH,
  MAX_STRING_CHARACTERS,
} from '../../protocol/index.ts';
import { setOwn } from '../profiles/own.ts';
import { isFarDate, parseDate } from './dates.ts';

/**
 * What is wrong with a nested value. `value`: a null or an impossible time, which costs the request all its nested
 * updates. `form`: a key, a size or a depth outside the limits, which costs this attribute alone.
 */
export type NestedFault = 'value' | 'form';

const TIME_KEY = '$time';

const isKey = (key: string): boolean =>
  key !== '' && !/[ .$]/.test(key) && fitsCharacters(key, MAX_NAME_CHARACTERS) && isStorableText(key);

/** `{ "$time": … }`: the one operator that may stand inside a nested value. */
export const isTime = (value: Record<string, unknown>): boolean => {
  // Asked first: the keys of a large object are many.
  return Object.hasOwn(value, TIME_KEY) && Object.keys(value).length === 1;
};

/** Left out of what is stored: a date whose year cannot be one. */
const NOT_STORED = Symbol('not stored');

const checked = (value: unknown, depth: number): unknown | { fault: NestedFault } => {
  if (typeof value === 'string') {
    return fitsCharacters(value, MAX_STRING_CHARACTERS) && isStorableText(value) ? value : FORM_FAULT;
  }
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return isStorableNumber(value) ? value : FORM_FAULT;
  if (value === null || value === undefined) return VALUE_FAULT;
  if (depth > MAX_NESTED_DEPTH) return FORM_FAULT;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const element of value) {
      const kept = checked(element, depth + 1);
      if (kept === FORM_FAULT || kept === VALUE_FAULT) return kept;
      if (kept !== NOT_STORED) list.push(kept);
    }
    return list;
  }
  const record = value as Record<string, unknown>;
  if (isTime(record)) {
    const time = record[TIME_KEY];
    if (typeof time !== 'string') return VALUE_FAULT;
    if (isFarDate(time)) return NOT_STORED;
    return parseDate(time) === null ? VALUE_FAULT : record;
  }
  const kept: Record<string, unknown> = {};
  for (const key of Object.keys(record)) {
    if (!isKey(key)) return FORM_FAULT;
    const member = checked(record[key], depth + 1);
    if (member === FORM_FAULT || member === VALUE_FAULT) return member;
    if (member !== NOT_STORED) setOwn(kept, key, member);
  }
  return kept;
};

const FORM_FAULT = Symbol('form');
const VALUE_FAULT = Symbol('value');

/** Checks a nested object or an array of objects and returns what is to be stored: `undefined` where that is nothing. */
export const checkNested = (value: unknown): { value: unknown } | { fault: NestedFault } => {
  const kept = checked(value, 1);
  if (kept === VALUE_FAULT) return { fault: 'value' };
  if (kept === NOT_STORED) return { value: undefined };
  if (kept === FORM_FAULT || !fitsJson(kept, MAX_NESTED_BYTES)) return { fault: 'form' };
  return { value: kept };
};

/** True when no branch is deeper than attributes may be. */
export const isShallow = (value: unknown, max = MAX_NESTED_DEPTH): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (max === 0) return false;
  return Object.values(value).every((member) => isShallow(member, max - 1));
};
