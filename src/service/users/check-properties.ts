import {
  fitsCharacters,
  isRecord,
  isStorableText,
  MAX_EVENT_PROPERTIES_BYTES,
  MAX_NAME_CHARACTERS,
  MAX_NESTED_DEPTH,
  MAX_PROPERTY_KEYS,
  MAX_PURCHASE_PROPERTIES_BYTES,
  MAX_STRING_CHARACTERS,
} from '../../protocol/index.ts';
import { setOwn } from '../profiles/own.ts';
import { fitsNested } from './fits-nested.ts';

const EVENT_RESERVED: ReadonlySet<string> = new Set(['time', 'event_name']);
const PURCHASE_RESERVED: ReadonlySet<string> = new Set([
  'time',
  'product_id',
  'quantity',
  'event_name',
  'price',
  'currency',
]);

const isKey = (key: string): boolean =>
  key !== '' && !key.startsWith('$') && fitsCharacters(key, MAX_NAME_CHARACTERS) && isStorableText(key);

const isText = (value: string): boolean =>
  fitsCharacters(value, MAX_STRING_CHARACTERS) && isStorableText(value);

const isValue = (value: unknown, depth: number): boolean => {
  if (typeof value === 'string') return isText(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_NESTED_DEPTH) return false;
  if (Array.isArray(value)) return value.every((element) => isValue(element, depth + 1));
  for (const key of Object.keys(value)) {
    // Inside, an operator key is what `{ "$time": … }` has, and stays as it is.
    if (!isStorableText(key) || !isValue((value as Record<string, unknown>)[key], depth + 1)) return false;
  }
  return true;
};

/** Objects inside a purchase's properties are kept as their JSON text. */
const asText = (value: unknown): unknown => {
  if (isRecord(value)) return JSON.stringify(value);
  return Array.isArray(value) ? value.map(asText) : value;
};

/** The properties to keep, `undefined` where none were sent, or `null` where they cost the object (contract 3.7). */
export const checkProperties = (
  properties: unknown,
  of: 'event' | 'purchase',
): Record<string, unknown> | undefined | null => {
  if (properties === undefined || properties === null) return undefined;
  if (!isRecord(properties)) return null;
  const reserved = of === 'event' ? EVENT_RESERVED : PURCHASE_RESERVED;
  const sent = Object.keys(properties);
  // What is beyond the limit is not looked at: it costs the event nothing.
  const keys = sent.slice(0, MAX_PROPERTY_KEYS);
  for (const key of keys) {
    if (reserved.has(key) || !isKey(key) || !isValue(properties[key], 1)) return null;
  }
  const most = of === 'event' ? MAX_EVENT_PROPERTIES_BYTES : MAX_PURCHASE_PROPERTIES_BYTES;
  let kept = properties;
  if (keys.length < sent.length) {
    kept = {};
    for (const key of keys) setOwn(kept, key, properties[key]);
  }
  if (!fitsNested(kept, most)) return null;
  if (of === 'event') return kept;
  const texts: Record<string, unknown> = {};
  for (const key of keys) setOwn(texts, key, asText(kept[key]));
  return texts;
};
