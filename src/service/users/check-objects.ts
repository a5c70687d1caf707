import { setImmediate as nextTurn } from 'node:timers/promises';
import { ATTRIBUTES_FLAGS, IDENTIFIERS, isRecord, TRACK_ERROR } from '../../protocol/index.ts';
import {
  type AttributesUser,
  type EventArray,
  type Identity,
  readAttributesUser,
  readUserEvent,
} from '../../protocol/schemas/index.ts';
import type { StoredEvent } from '../profiles/events.ts';
import type { PushToken } from '../profiles/profile.ts';
import { setOwn } from '../profiles/profile.ts';
import { type CustomChange, checkCustom } from './check-custom.ts';
import { checkStandard, STANDARD_NAMES } from './check-standard.ts';
import type { ErrorCollector } from './error-collector.ts';
import { checkPushTokens } from './push-tokens.ts';
import { checkSubscriptions, type GroupChange } from './subscriptions.ts';
import type { UserRules } from './user-rules.ts';

/** Maximum time of uninterrupted work on one request, in milliseconds. */
const SLICE_MS = 5;
/** Number of objects between two reads of the clock, because reading it costs more than checking a small object. */
const READ_EVERY = 4;

/**
 * Returns a function that yields to other requests while a large body is checked. Call it after each object. It returns a promise
 * to await; `null` if the slice is not over.
 */
export const createYielder = () => {
  let started = performance.now();
  let calls = 0;
  return (): Promise<void> | null => {
    calls += 1;
    if (calls % READ_EVERY !== 0 || performance.now() - started <= SLICE_MS) return null;
    return nextTurn().then(() => {
      started = performance.now();
    });
  };
};

export interface CheckedAttributes extends AttributesUser {
  standard: { name: string; value: unknown }[];
  custom: CustomChange[];
  groups: readonly GroupChange[];
  pushTokens: readonly PushToken[];
  /** Whether a nested value is invalid. If so, no nested value of the request is written. */
  hasBadNested: boolean;
}

type Kind =
  | 'not_an_attribute'
  | 'standard'
  | 'subscription_groups'
  | 'push_tokens'
  | 'email_subscription_info';

/** Members that are not attributes: identifiers, flags and the reserved alias names. */
const RESERVED_MEMBERS = [
  ...IDENTIFIERS,
  'alias_name',
  'alias_label',
  '_update_existing_only',
  ...ATTRIBUTES_FLAGS,
];

/** Kind of each reserved member. Any other member is a custom attribute. */
const KINDS = new Map<string, Kind>([
  ...RESERVED_MEMBERS.map((name) => [name, 'not_an_attribute'] as const),
  ...STANDARD_NAMES.map((name) => [name, 'standard'] as const),
  ['subscription_groups', 'subscription_groups'],
  ['push_tokens', 'push_tokens'],
  ['email_subscription_info', 'email_subscription_info'],
]);

/** Whether a member sets one attribute, standard or custom. */
export const isAttribute = (name: string): boolean => {
  const kind = KINDS.get(name);
  return kind === 'standard' || (kind === undefined && !('error' in checkCustom(name, true)));
};

export const isAttributeValue = (name: string, value: unknown): boolean =>
  !('error' in (KINDS.get(name) === 'standard' ? checkStandard(name, value) : checkCustom(name, value)));

/** Shared empty list, because most objects have no groups and no tokens. */
const NONE: readonly never[] = [];

/** Checks one object of `attributes`. Adds its errors to `errors`. Returns `null` if it is rejected. */
export const checkAttributes = (
  sent: unknown,
  workspace: UserRules,
  errors: ErrorCollector,
): CheckedAttributes | null => {
  const user = readAttributesUser(sent, workspace.blockedExternalIds, errors);
  if (user === null || !isRecord(sent)) return null;
  const checked: CheckedAttributes = {
    ...user,
    standard: [],
    custom: [],
    groups: NONE,
    pushTokens: NONE,
    hasBadNested: false,
  };
  for (const name of Object.keys(sent)) {
    const kind = KINDS.get(name);
    if (kind === 'not_an_attribute') continue;
    const value = sent[name];
    if (kind === 'standard') {
      const standard = checkStandard(name, value);
      if ('error' in standard) errors.add(standard.error);
      else checked.standard.push({ name, value: standard.value });
    } else if (kind === 'subscription_groups') {
      checked.groups = checkSubscriptions(value, workspace.subscriptionGroups, errors);
    } else if (kind === 'push_tokens') {
      checked.pushTokens = checkPushTokens(value, workspace.appIds, errors);
    } else if (kind === 'email_subscription_info') {
      errors.add(TRACK_ERROR.emailSubscriptionInfo);
    } else {
      const custom = checkCustom(name, value);
      if (!('error' in custom)) checked.custom.push(custom);
      else if (!custom.nested) errors.add(custom.error);
      else {
        // Adds only one entry per object, regardless of the number of invalid values.
        if (!checked.hasBadNested) errors.add(custom.error);
        checked.hasBadNested = true;
      }
    }
  }
  return checked;
};

/** Valid event or purchase. */
export interface CheckedEvent {
  identity: Identity;
  /** Event as stored. Its user is not known yet. */
  event: StoredEvent;
}

/** Converts objects inside a purchase's properties to JSON text, as they are stored. */
const asText = (value: unknown): unknown => {
  if (isRecord(value)) return JSON.stringify(value);
  return Array.isArray(value) ? value.map(asText) : value;
};

const withTexts = (properties: Record<string, unknown>): Record<string, unknown> => {
  const texts: Record<string, unknown> = {};
  for (const key of Object.keys(properties)) setOwn(texts, key, asText(properties[key]));
  return texts;
};

/** Checks one object of an array. Adds every reason to `errors`. Returns `null` if it is rejected. */
export const checkEvent = (
  object: unknown,
  array: EventArray,
  workspace: UserRules,
  nowMs: number,
  errors: ErrorCollector,
): CheckedEvent | null => {
  const read = readUserEvent(object, array, workspace.blockedExternalIds, errors);
  if (read === null || !isRecord(object)) return null;
  const { identity, name, properties = null, purchase } = read;
  const { app_id } = object;
  const common = {
    externalId: null,
    userId: 0,
    appId: typeof app_id === 'string' && workspace.appIds.has(app_id) ? app_id : null,
    // Replaces a time in the future with the current time.
    timeMs: Math.min(read.timeMs, nowMs),
    receivedAtMs: nowMs,
  };
  const event: StoredEvent = purchase
    ? {
        kind: 'purchase',
        productId: name,
        ...purchase,
        ...common,
        properties: properties && withTexts(properties),
      }
    : { kind: 'event', name, ...common, properties };
  return { identity, event };
};
