import type { BannerEventRow, EventRow } from '../profiles/events.ts';
import { readProfile } from '../profiles/profile.ts';
import type { UserRow } from '../profiles/user-repository.ts';
import { readNumber, readText, readTextOrNull, type SqlRow } from '../sql/row-readers.ts';
import { BANNER_EVENTS, EVENTS, USERS } from '../sql/user-tables.ts';

export const toUserRow = (row: SqlRow): UserRow => {
  const { userId, workspaceId, externalId, profile, version, createdAtMs, updatedAtMs } = USERS.read(row);
  const columns = { userId, externalId, createdAtMs, updatedAtMs };
  return {
    userId,
    workspaceId,
    externalId,
    profile: profile === null ? null : readProfile(columns, JSON.parse(profile)),
    createdAtMs,
    lastActivityMs: updatedAtMs,
    version,
    characters: profile?.length ?? 0,
  };
};

/** Converts a row of `events` with the external ID of its user. */
export const toEventRow = (row: SqlRow): EventRow => {
  const { name, productId, price, currency, quantity, ...event } = EVENTS.read(row);
  const ofUser = { ...event, externalId: readTextOrNull(row, 'external_id') };
  if (productId === null) return { kind: 'event', name: readText(row, 'name'), ...ofUser };
  return {
    kind: 'purchase',
    productId,
    currency: readText(row, 'currency'),
    price: readNumber(row, 'price'),
    quantity: readNumber(row, 'quantity'),
    ...ofUser,
  };
};

/** Converts a row of `banner_events` with the external ID of its user. */
export const toBannerEventRow = (row: SqlRow): BannerEventRow => ({
  ...BANNER_EVENTS.read(row),
  externalId: readText(row, 'external_id'),
});
