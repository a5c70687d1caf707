import { type AttributesUser, readAttributesUser, TRACK_ERROR } from '../../protocol/index.ts';
import type { PushToken } from '../profiles/profile.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { type CustomChange, checkCustom } from './check-custom.ts';
import { checkStandard, STANDARD_NAMES } from './check-standard.ts';
import type { Problems } from './problems.ts';
import { checkPushTokens } from './push-tokens.ts';
import { checkSubscriptions, type GroupChange } from './subscriptions.ts';

export interface CheckedAttributes extends AttributesUser {
  standard: { name: string; value: unknown }[];
  custom: CustomChange[];
  groups: readonly GroupChange[];
  pushTokens: readonly PushToken[];
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

/** Most objects have no groups and no tokens: they share one empty list. */
const NONE: readonly never[] = [];

/** Checks one object of `attributes`; `null` where it is rejected. What is wrong with it goes to `problems`. */
export const checkAttributes = (
  sent: unknown,
  workspace: Workspace,
  problems: Problems,
): CheckedAttributes | null => {
  const user = readAttributesUser(sent, workspace.blockedExternalIds, problems);
  if (user === null) return null;
  const object = sent as Record<string, unknown>;
  const checked: CheckedAttributes = {
    ...user,
    standard: [],
    custom: [],
    groups: NONE,
    pushTokens: NONE,
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
  return checked;
};
