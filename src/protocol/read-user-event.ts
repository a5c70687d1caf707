import { isCurrency } from './currencies.ts';
import { notValid, required, TRACK_ERROR } from './error-codes.ts';
import { checkIdentity, type Faults, type Identity, idText } from './identity.ts';
import { parseInstant } from './instant.ts';
import { MAX_NAME_CHARACTERS, MAX_PRICE, MAX_PURCHASE_QUANTITY } from './limits.ts';
import { isRecord } from './record.ts';
import { fitsCharacters, isStorableText } from './text.ts';
import { readUserEventProperties } from './user-event-properties.ts';

/** The members of an object of `events` or `purchases`. */
export interface UserEventMembers {
  identity: Identity;
  /** The event's name, or the product's ID. */
  name: string;
  /** Unix milliseconds. */
  timeMs: number;
  properties: Record<string, unknown> | undefined;
  /** `null` for an event. The currency is in capitals. */
  purchase: { currency: string; price: number; quantity: number } | null;
}

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
  kind: 'event' | 'purchase',
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
  const isPurchase = kind === 'purchase';
  const name = isPurchase ? member('product_id', readProduct) : member('name', readName);
  const currency = isPurchase ? member('currency', readCurrency) : '';
  const price = isPurchase ? member('price', readPrice) : 0;
  const quantity = isPurchase ? member('quantity', readQuantity) : 1;
  const timeMs = member('time', readTime);
  const properties = readUserEventProperties(object['properties'], kind);
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
