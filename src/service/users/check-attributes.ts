import {
  checkIdentity,
  type Identity,
  isPresent,
  isRecord,
  notValid,
  TRACK_ERROR,
} from '../../protocol/index.ts';
import type { PushToken } from '../profiles/profile.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { type CustomChange, checkCustom } from './check-custom.ts';
import { checkPushTokens } from './check-push-tokens.ts';
import { checkStandard, STANDARD_NAMES } from './check-standard.ts';
import { checkSubscriptions, type GroupChange } from './check-subscriptions.ts';
import type { Problems } from './problems.ts';

export interface CheckedAttributes {
  /** `null` for a token import that names nobody: an anonymous profile for each token. */
  identity: Identity | null;
  mergeObjects: boolean;
  standard: { name: string; value: unknown }[];
  custom: CustomChange[];
  groups: readonly GroupChange[];
  pushTokens: readonly PushToken[];
  /** Tokens that somebody has already are left alone. */
  isTokenImport: boolean;
  /** One of its nested values is bad, which costs the whole request its nested updates. */
  hasBadNested: boolean;
}

type Kind = 'no attribute' | 'standard' | 'subscription groups' | 'push tokens' | 'email subscription info';

/** Identifiers and flags, which are no attributes; the two alias names are reserved. */
const NO_ATTRIBUTES = [
  'external_id',
  'user_alias',
  'braze_id',
  'email',
  'phone',
  'alias_name',
  'alias_label',
  '_update_existing_only',
  '_merge_objects',
  'push_token_import',
];

/** What a member of an object is; one that is not named here is a custom attribute. */
const KINDS = new Map<string, Kind>([
  ...NO_ATTRIBUTES.map((name) => [name, 'no attribute'] as const),
  ...STANDARD_NAMES.map((name) => [name, 'standard'] as const),
  ['subscription_groups', 'subscription groups'],
  ['push_tokens', 'push tokens'],
  ['email_subscription_info', 'email subscription info'],
]);

/**
 * Tokens of one anonymous import. Each makes a profile, so it is as many as a request may have objects, whose profiles
 * are made at one go too. The contract has no bound and no error for it; the one of an import fits, as it refuses the
 * object: without its tokens it would do nothing and yet count as processed.
 */
const MAX_IMPORTED_TOKENS = 75;

/** Most objects have no groups and no tokens: they share one empty list. */
const NONE: readonly never[] = [];

/** Checks one object of `attributes`; `null` where it is rejected. What is wrong with it goes to `problems`. */
export const checkAttributes = (
  object: unknown,
  workspace: Workspace,
  problems: Problems,
): CheckedAttributes | null => {
  if (!isRecord(object)) {
    problems.add(TRACK_ERROR.identifierRequired);
    return null;
  }
  const isTokenImport = object['push_token_import'] === true;
  const isAnonymous =
    isTokenImport &&
    !isPresent(object['user_alias']) &&
    !isPresent(object['email']) &&
    !isPresent(object['phone']);
  if (isTokenImport) {
    const tokens = object['push_tokens'];
    const hasTokens =
      tokens !== undefined && tokens !== null && !(Array.isArray(tokens) && tokens.length === 0);
    const isTooMany = isAnonymous && Array.isArray(tokens) && tokens.length > MAX_IMPORTED_TOKENS;
    if (!hasTokens || isTooMany || isPresent(object['external_id']) || isPresent(object['braze_id'])) {
      problems.add(TRACK_ERROR.badPushTokenImport);
      return null;
    }
  }
  const identity = isAnonymous ? null : checkIdentity(object, workspace.blockedExternalIds, problems);
  if (!identity && !isAnonymous) return null;

  const checked: CheckedAttributes = {
    identity,
    mergeObjects: object['_merge_objects'] === true,
    standard: [],
    custom: [],
    groups: NONE,
    pushTokens: NONE,
    isTokenImport,
    hasBadNested: false,
  };
  for (const name of Object.keys(object)) {
    const kind = KINDS.get(name);
    if (kind === 'no attribute') continue;
    const value = object[name];
    if (kind === 'standard') {
      const standard = checkStandard(name, value);
      if ('problem' in standard) problems.add(standard.problem);
      else checked.standard.push({ name, value: standard.value });
    } else if (kind === 'subscription groups') {
      checked.groups = checkSubscriptions(value, workspace.subscriptionGroups, problems);
    } else if (kind === 'push tokens') {
      checked.pushTokens = checkPushTokens(value, workspace.appIds, problems);
    } else if (kind === 'email subscription info') {
      problems.add(TRACK_ERROR.emailSubscriptionInfo);
    } else {
      const custom = checkCustom(name, value);
      if (!('problem' in custom)) checked.custom.push(custom);
      else if (!custom.nested) problems.add(custom.problem);
      else {
        // One entry for an object, however many of its values are bad.
        if (!checked.hasBadNested) problems.add(custom.problem);
        checked.hasBadNested = true;
      }
    }
  }
  for (const flag of ['_merge_objects', 'push_token_import']) {
    const value = object[flag];
    if (value !== undefined && value !== null && typeof value !== 'boolean') problems.add(notValid(flag));
  }
  return checked;
};
