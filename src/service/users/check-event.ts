import {
  checkIdentity,
  fitsCharacters,
  type Identity,
  idText,
  isCurrency,
  isRecord,
  isStorableText,
  MAX_NAME_CHARACTERS,
  MAX_PURCHASE_QUANTITY,
  notValid,
  parseInstant,
  required,
  TRACK_ERROR,
} from '../../protocol/index.ts';
import type { StoredEvent } from '../profiles/stored-event.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { checkProperties } from './check-properties.ts';
import type { Problems } from './problems.ts';

/** An event or a purchase that passed every check. */
export interface CheckedEvent {
  identity: Identity;
  /** As it will be stored, but for its user, who is not known yet. */
  event: StoredEvent;
}

const isName = (value: string): boolean =>
  value !== '' && fitsCharacters(value, MAX_NAME_CHARACTERS) && isStorableText(value);

/** Reads a required text; reports what is wrong with it and answers `null`. */
const textOf = (object: Record<string, unknown>, name: string, problems: Problems): string | null => {
  const value = object[name];
  if (value === undefined || value === null) problems.add(required(name));
  else if (typeof value !== 'string' || !isName(value)) problems.add(notValid(name));
  else return value;
  return null;
};

const productOf = ({ product_id }: Record<string, unknown>, problems: Problems): string | null =>
  textOf({ product_id: idText(product_id) ?? product_id }, 'product_id', problems);

const currencyOf = (object: Record<string, unknown>, problems: Problems): string | null => {
  const text = textOf(object, 'currency', problems);
  if (text === null) return null;
  if (isCurrency(text.toUpperCase())) return text.toUpperCase();
  problems.add(notValid('currency'));
  return null;
};

const priceOf = (object: Record<string, unknown>, problems: Problems): number | null => {
  const { price } = object;
  if (price === undefined || price === null) problems.add(required('price'));
  else if (typeof price !== 'number' || !Number.isFinite(price)) problems.add(notValid('price'));
  else return price;
  return null;
};

const quantityOf = ({ quantity }: Record<string, unknown>, problems: Problems): number | null => {
  if (quantity === undefined || quantity === null) return 1;
  if (
    Number.isInteger(quantity) &&
    (quantity as number) >= 1 &&
    (quantity as number) <= MAX_PURCHASE_QUANTITY
  ) {
    return quantity as number;
  }
  problems.add(notValid('quantity'));
  return null;
};

/** Checks one object of `events` or `purchases`; `null` where it is rejected, with every reason in `problems`. */
export const checkEvent = (
  object: unknown,
  kind: 'event' | 'purchase',
  workspace: Workspace,
  nowMs: number,
  problems: Problems,
): CheckedEvent | null => {
  if (!isRecord(object)) {
    problems.add(TRACK_ERROR.identifierRequired);
    return null;
  }
  const identity = checkIdentity(object, workspace.blockedExternalIds, problems);
  if (identity) {
    // It clears among attributes alone: beside an event, `null` is as good as absent (contract 4.1). Clients
    // with fixed types write every identifier they do not use like that.
    identity.email ??= undefined;
    identity.phone ??= undefined;
  }
  const isPurchase = kind === 'purchase';
  const name = isPurchase ? productOf(object, problems) : textOf(object, 'name', problems);
  const currency = isPurchase ? currencyOf(object, problems) : '';
  const price = isPurchase ? priceOf(object, problems) : 0;
  const quantity = isPurchase ? quantityOf(object, problems) : 1;
  const time = object['time'];
  const sentMs = typeof time === 'string' ? parseInstant(time) : null;
  if (time === undefined || time === null) problems.add(required('time'));
  else if (sentMs === null) problems.add(notValid('time'));
  const properties = checkProperties(object['properties'], kind);
  if (properties === null) problems.add(TRACK_ERROR.invalidProperties);
  if (
    identity === null ||
    name === null ||
    currency === null ||
    price === null ||
    quantity === null ||
    sentMs === null ||
    properties === null
  ) {
    return null;
  }
  const { app_id } = object;
  // Nothing has happened in the future: such a time is replaced by now.
  const timeMs = Math.min(sentMs, nowMs);
  const appId = typeof app_id === 'string' && workspace.appIds.has(app_id) ? app_id : null;
  const ofUser = {
    externalId: null,
    userId: 0,
    appId,
    timeMs,
    receivedAtMs: nowMs,
    properties: properties ?? null,
  };
  const event: StoredEvent = isPurchase
    ? { kind: 'purchase', productId: name, currency, price, quantity, ...ofUser }
    : { kind: 'event', name, ...ofUser };
  return { identity, event };
};
