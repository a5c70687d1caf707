import * as z from 'zod/mini';
import { notValid, required, TRACK_ERROR } from '../errors.ts';
import { fitsJson, isRecord } from '../json.ts';
import {
  MAX_EVENT_PROPERTIES_BYTES,
  MAX_NAME_CHARACTERS,
  MAX_NESTED_DEPTH,
  MAX_PRICE,
  MAX_PROPERTY_KEYS,
  MAX_PURCHASE_PROPERTIES_BYTES,
  MAX_PURCHASE_QUANTITY,
  MAX_STRING_CHARACTERS,
} from '../limits.ts';
import { fitsCharacters, isStorableNumber, isStorableText } from '../text.ts';
import { parseInstant } from '../timestamp.ts';
import type { InputArray } from '../users-track.ts';
import { described } from './body.ts';
import {
  checkIdentity,
  hasNoIssues,
  type Identity,
  type IssueCollector,
  identifiers,
  idText,
} from './identity.ts';

/** ISO 4217 codes missing from the engine's list: funds, units of account, metals, and recent additions. */
const OTHER_CURRENCIES =
  'BOV CHE CHW CLF COU MXV USN UYI UYW VED XAG XAU XBA XBB XBC XBD XCG XDR XPD XPT XSU XTS XUA XXX ZWG';

let known: ReadonlySet<string> | undefined;

/** Returns whether an upper-case code is in ISO 4217. */
const isCurrency = (code: string): boolean => {
  known ??= new Set([...Intl.supportedValuesOf('currency'), ...OTHER_CURRENCIES.split(' ')]);
  return known.has(code);
};

// Parsed without a schema, at a fraction of a schema's cost, because thousands of these objects arrive per second and each is validated
// separately with all its problems. The schemas below describe the objects and call the same reader.

/** Parsed properties of an object of `events` or `purchases`. */
interface UserEventMembers {
  identity: Identity;
  /** Event name or product ID. */
  name: string;
  /** Unix milliseconds. */
  timeMs: number;
  properties: Record<string, unknown> | undefined;
  /** `null` for an event. The currency is in upper case. */
  purchase: { currency: string; price: number; quantity: number } | null;
}

/** Array of an object: `events` or `purchases`. */
export type EventArray = Exclude<InputArray, 'attributes'>;

const RULES = {
  events: { reserved: ['time', 'event_name'], maxBytes: MAX_EVENT_PROPERTIES_BYTES },
  purchases: {
    reserved: ['time', 'product_id', 'quantity', 'event_name', 'price', 'currency'],
    maxBytes: MAX_PURCHASE_PROPERTIES_BYTES,
  },
};

const isKey = (key: string): boolean =>
  key !== '' && !key.startsWith('$') && fitsCharacters(key, MAX_NAME_CHARACTERS) && isStorableText(key);

const isValue = (value: unknown, depth: number): boolean => {
  if (typeof value === 'string') return fitsCharacters(value, MAX_STRING_CHARACTERS) && isStorableText(value);
  if (typeof value === 'number') return isStorableNumber(value);
  const isArray = Array.isArray(value);
  if (!isArray && !isRecord(value)) return true;
  if (depth > MAX_NESTED_DEPTH) return false;
  if (isArray) return value.every((element) => isValue(element, depth + 1));
  for (const key of Object.keys(value)) {
    // In nested values, `{ "$time": … }` is kept, although `$time` is an operator key.
    if (!isStorableText(key) || !isValue(value[key], depth + 1)) return false;
  }
  return true;
};

/** Returns the properties to store; `undefined` if none were sent, `null` if they make the object invalid (contract 3.7). */
const readProperties = (
  properties: unknown,
  array: EventArray,
): Record<string, unknown> | undefined | null => {
  if (properties === undefined || properties === null) return undefined;
  if (!isRecord(properties)) return null;
  const { reserved, maxBytes } = RULES[array];
  const sent = Object.keys(properties);
  // Properties over the limit are ignored without an error.
  const keys = sent.slice(0, MAX_PROPERTY_KEYS);
  for (const key of keys) {
    if (reserved.includes(key) || !isKey(key) || !isValue(properties[key], 1)) return null;
  }
  const kept =
    keys.length < sent.length ? Object.fromEntries(keys.map((key) => [key, properties[key]])) : properties;
  return fitsJson(kept, maxBytes) ? kept : null;
};

/** Parses one property. Returns `undefined` if invalid. */
type Read<T> = (value: unknown) => T | undefined;

const readName: Read<string> = (value) =>
  typeof value === 'string' &&
  value !== '' &&
  fitsCharacters(value, MAX_NAME_CHARACTERS) &&
  isStorableText(value)
    ? value
    : undefined;

const readProduct: Read<string> = (value) => readName(idText(value));

const readCurrency: Read<string> = (value) =>
  typeof value === 'string' && isCurrency(value.toUpperCase()) ? value.toUpperCase() : undefined;

const readPrice: Read<number> = (value) =>
  typeof value === 'number' && Math.abs(value) <= MAX_PRICE ? value : undefined;

const readQuantity: Read<number> = (value) => {
  if (value === undefined || value === null) return 1;
  const isValid =
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_PURCHASE_QUANTITY;
  return isValid ? value : undefined;
};

const readTime: Read<number> = (value) =>
  typeof value === 'string' ? (parseInstant(value) ?? undefined) : undefined;

/** Validates an object of `events` or `purchases`. Returns `null` if rejected, with all reasons in `issues`. */
export const readUserEvent = (
  object: unknown,
  array: EventArray,
  blocked: ReadonlySet<string>,
  issues: IssueCollector,
): UserEventMembers | null => {
  if (!isRecord(object)) {
    issues.add(TRACK_ERROR.identifierRequired);
    return null;
  }
  const member = <T>(name: string, read: Read<T>): T | undefined => {
    const value = object[name];
    const found = read(value);
    if (found !== undefined) return found;
    issues.add(value === undefined || value === null ? required(name) : notValid(name));
    return undefined;
  };
  const identity = checkIdentity(object, blocked, issues);
  const isPurchase = array === 'purchases';
  const name = isPurchase ? member('product_id', readProduct) : member('name', readName);
  const currency = isPurchase ? member('currency', readCurrency) : '';
  const price = isPurchase ? member('price', readPrice) : 0;
  const quantity = isPurchase ? member('quantity', readQuantity) : 1;
  const timeMs = member('time', readTime);
  const properties = readProperties(object['properties'], array);
  if (properties === null) issues.add(TRACK_ERROR.invalidProperties);
  if (
    identity === null ||
    name === undefined ||
    currency === undefined ||
    price === undefined ||
    quantity === undefined ||
    timeMs === undefined ||
    properties === null
  ) {
    return null;
  }
  return {
    // `null` clears only in attributes; in events it counts as absent (contract 4.1). Clients with fixed types send `null` for
    // unused identifiers.
    identity: { ...identity, email: identity.email ?? undefined, phone: identity.phone ?? undefined },
    name,
    timeMs,
    properties,
    purchase: isPurchase ? { currency, price, quantity } : null,
  };
};

/** Properties of events and purchases. An unknown `app_id` is ignored. */
const ofBoth = {
  ...identifiers,
  app_id: z.optional(
    z
      .unknown()
      .check(z.meta({ type: 'string', description: 'App of the workspace in which the event occurred.' })),
  ),
  time: z.string().check(described('When it happened, in ISO 8601; a time in the future becomes now.')),
};
const createPropertiesSchema = (array: EventArray) =>
  z
    .nullish(z.record(z.string(), z.unknown()))
    .check(described(`Anything else about it, at most ${RULES[array].maxBytes / 1024} KB.`));
const name = z.string().check(z.meta({ minLength: 1, maxLength: MAX_NAME_CHARACTERS }));

/** Custom event of a user. */
export const eventObject = z
  .looseObject({
    ...ofBoth,
    name: name.check(described(`Name of the event, at most ${MAX_NAME_CHARACTERS} characters.`)),
    properties: createPropertiesSchema('events'),
  })
  .check(hasNoIssues((object, blocked, issues) => readUserEvent(object, 'events', blocked, issues)));

/** Purchase of a user. */
export const purchaseObject = z
  .looseObject({
    ...ofBoth,
    product_id: z
      .union([name, z.int()])
      .check(described(`ID of the product, at most ${MAX_NAME_CHARACTERS} characters.`)),
    currency: z.string().check(described('Code of ISO 4217, such as `EUR`.')),
    price: z
      .number()
      .check(
        z.gte(-MAX_PRICE),
        z.lte(MAX_PRICE),
        described(`Price of one, in the main unit of the currency, from -${MAX_PRICE} to ${MAX_PRICE}.`),
      ),
    quantity: z
      .nullish(z.int().check(z.gte(1), z.lte(MAX_PURCHASE_QUANTITY)))
      .check(described(`How many, 1 to ${MAX_PURCHASE_QUANTITY}. Default 1.`)),
    properties: createPropertiesSchema('purchases'),
  })
  .check(hasNoIssues((object, blocked, issues) => readUserEvent(object, 'purchases', blocked, issues)));
