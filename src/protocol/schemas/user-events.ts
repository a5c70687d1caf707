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
import { checkIdentity, type Faults, type Identity, identifiers, idText, isSound } from './identity.ts';

/** Codes of ISO 4217 that the engine's list lacks: funds, units of account, metals, and a few it has not learnt yet. */
const OTHER_CURRENCIES =
  'BOV CHE CHW CLF COU MXV USN UYI UYW VED XAG XAU XBA XBB XBC XBD XCG XDR XPD XPT XSU XTS XUA XXX ZWG';

let known: ReadonlySet<string> | undefined;

/** Whether a code in capitals is one of ISO 4217. */
const isCurrency = (code: string): boolean => {
  known ??= new Set([...Intl.supportedValuesOf('currency'), ...OTHER_CURRENCIES.split(' ')]);
  return known.has(code);
};

// Thousands of these objects come a second, each judged alone with every fault it has: they are read by hand, at a fraction of
// what a schema takes. The schemas below describe them, and ask the same reader.

/** The members of an object of `events` or `purchases`. */
interface UserEventMembers {
  identity: Identity;
  /** The event's name, or the product's ID. */
  name: string;
  /** Unix milliseconds. */
  timeMs: number;
  properties: Record<string, unknown> | undefined;
  /** `null` for an event. The currency is in capitals. */
  purchase: { currency: string; price: number; quantity: number } | null;
}

/** The array that holds an object: of `events`, or of `purchases`. */
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
const readProperties = (
  properties: unknown,
  array: EventArray,
): Record<string, unknown> | undefined | null => {
  if (properties === undefined || properties === null) return undefined;
  if (!isRecord(properties)) return null;
  const { reserved, maxBytes } = RULES[array];
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

/** Reads one member: `undefined` where its value is not valid. */
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
  const quantity = value as number;
  return Number.isInteger(quantity) && quantity >= 1 && quantity <= MAX_PURCHASE_QUANTITY
    ? quantity
    : undefined;
};

const readTime: Read<number> = (value) =>
  typeof value === 'string' ? (parseInstant(value) ?? undefined) : undefined;

/** Checks one object of `events` or `purchases`; `null` where it is rejected, with every reason in `faults`. */
export const readUserEvent = (
  object: unknown,
  array: EventArray,
  blocked: ReadonlySet<string>,
  faults: Faults,
): UserEventMembers | null => {
  if (!isRecord(object)) {
    faults.add(TRACK_ERROR.identifierRequired);
    return null;
  }
  const member = <T>(name: string, read: Read<T>): T | undefined => {
    const value = object[name];
    const found = read(value);
    if (found !== undefined) return found;
    faults.add(value === undefined || value === null ? required(name) : notValid(name));
    return undefined;
  };
  const identity = checkIdentity(object, blocked, faults);
  const isPurchase = array === 'purchases';
  const name = isPurchase ? member('product_id', readProduct) : member('name', readName);
  const currency = isPurchase ? member('currency', readCurrency) : '';
  const price = isPurchase ? member('price', readPrice) : 0;
  const quantity = isPurchase ? member('quantity', readQuantity) : 1;
  const timeMs = member('time', readTime);
  const properties = readProperties(object['properties'], array);
  if (properties === null) faults.add(TRACK_ERROR.invalidProperties);
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
    // `null` clears among attributes alone: beside an event it is as good as absent (contract 4.1). Clients with fixed
    // types write every identifier they do not use like that.
    identity: { ...identity, email: identity.email ?? undefined, phone: identity.phone ?? undefined },
    name,
    timeMs,
    properties,
    purchase: isPurchase ? { currency, price, quantity } : null,
  };
};

/** An `app_id` that the workspace does not have is left out. */
const ofBoth = {
  ...identifiers,
  app_id: z.optional(
    z.unknown().check(z.meta({ type: 'string', description: 'App of the workspace where it happened.' })),
  ),
  time: z.string().check(described('When it happened, in ISO 8601; a time in the future becomes now.')),
};
const propertiesOf = (array: EventArray) =>
  z
    .nullish(z.record(z.string(), z.unknown()))
    .check(described(`Anything else about it, at most ${RULES[array].maxBytes / 1024} KB.`));
const name = z.string().check(z.meta({ minLength: 1, maxLength: MAX_NAME_CHARACTERS }));

/** One thing a user did. */
export const eventObject = z
  .looseObject({
    ...ofBoth,
    name: name.check(described(`Name of the event, at most ${MAX_NAME_CHARACTERS} characters.`)),
    properties: propertiesOf('events'),
  })
  .check(isSound((object, blocked, faults) => readUserEvent(object, 'events', blocked, faults)));

/** One purchase. */
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
    properties: propertiesOf('purchases'),
  })
  .check(isSound((object, blocked, faults) => readUserEvent(object, 'purchases', blocked, faults)));
