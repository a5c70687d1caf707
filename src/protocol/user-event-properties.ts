import { fitsJson } from './fits-json.ts';
import {
  MAX_EVENT_PROPERTIES_BYTES,
  MAX_NAME_CHARACTERS,
  MAX_NESTED_DEPTH,
  MAX_PROPERTY_KEYS,
  MAX_PURCHASE_PROPERTIES_BYTES,
  MAX_STRING_CHARACTERS,
} from './limits.ts';
import { isRecord } from './record.ts';
import { fitsCharacters, isStorableNumber, isStorableText } from './text.ts';

const RULES = {
  event: { reserved: ['time', 'event_name'], maxBytes: MAX_EVENT_PROPERTIES_BYTES },
  purchase: {
    reserved: ['time', 'product_id', 'quantity', 'event_name', 'price', 'currency'],
    maxBytes: MAX_PURCHASE_PROPERTIES_BYTES,
  },
};

const isKey = (key: string): boolean =>
  key !== '' && !key.startsWith('$') && fitsCharacters(key, MAX_NAME_CHARACTERS) && isStorableText(key);

const isValue = (value: unknown, depth: number): boolean => {
  if (typeof value === 'string') return fitsCharacters(value, MAX_STRING_CHARACTERS) && isStorableText(value);
  if (typeof value === 'number') return isStorableNumber(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_NESTED_DEPTH) return false;
  if (Array.isArray(value)) return value.every((element) => isValue(element, depth + 1));
  for (const key of Object.keys(value)) {
    // Inside, an operator key is what `{ "$time": … }` has, and stays as it is.
    if (!isStorableText(key) || !isValue((value as Record<string, unknown>)[key], depth + 1)) return false;
  }
  return true;
};

/** The properties to keep, `undefined` where none were sent, or `null` where they cost the object (contract 3.7). */
export const readUserEventProperties = (
  properties: unknown,
  kind: keyof typeof RULES,
): Record<string, unknown> | undefined | null => {
  if (properties === undefined || properties === null) return undefined;
  if (!isRecord(properties)) return null;
  const { reserved, maxBytes } = RULES[kind];
  const sent = Object.keys(properties);
  // The properties beyond the limit are not looked at: they cost the event nothing.
  const keys = sent.slice(0, MAX_PROPERTY_KEYS);
  for (const key of keys) {
    if (reserved.includes(key) || !isKey(key) || !isValue(properties[key], 1)) return null;
  }
  const kept =
    keys.length < sent.length ? Object.fromEntries(keys.map((key) => [key, properties[key]])) : properties;
  return fitsJson(kept, maxBytes) ? kept : null;
};
