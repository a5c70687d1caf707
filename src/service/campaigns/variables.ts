import { truncate } from '../../protocol/index.ts';
import { createIssue, type Issue } from '../issues.ts';
import type { Profile } from '../profiles/profile.ts';
import { suggest } from '../suggest.ts';
import { STANDARD_NAMES } from '../users/check-standard.ts';

/** Variables available to a property template. */
export interface PersonaliseContext {
  /** Standard attributes and identifiers by wire name and common alias, for example `{{${first_name}}}`. */
  user: Record<string, unknown>;
  /** Custom attributes, for example `{{custom_attribute.${tier}}}`. */
  customAttributes: Record<string, unknown>;
  /** Device, for example `{{targeted_device.${platform}}}`. Empty if unknown. */
  device: Record<string, unknown>;
}

/** Returns the template variables of one user. A device is known if the profile contains it. */
export const personaliseContext = (
  externalId: string,
  profile: Readonly<Profile> | null,
  deviceId: string | undefined,
  appPlatforms: ReadonlyMap<string, string>,
): PersonaliseContext => {
  const standard = profile?.standard ?? {};
  const token = deviceId && profile?.pushTokens.find(({ device_id }) => device_id === deviceId);
  return {
    user: {
      ...standard,
      city: standard['home_city'],
      date_of_birth: standard['dob'],
      user_id: externalId,
      external_id: externalId,
      braze_id: profile ? String(profile.userId) : undefined,
      email: profile?.email,
      email_address: profile?.email,
      phone: profile?.phone,
      phone_number: profile?.phone,
    },
    customAttributes: profile?.custom ?? {},
    device: token ? { id: token.device_id, platform: appPlatforms.get(token.app_id) || undefined } : {},
  };
};

/** Valid names in `${…}`, which are standard attributes, identifiers and their aliases. */
const USER_NAMES: readonly string[] = [
  ...new Set([...STANDARD_NAMES, ...Object.keys(personaliseContext('', null, undefined, new Map()).user)]),
];
const DEVICE_NAMES = ['id', 'platform'];
/** Maximum length of a name that is compared for typos. */
const MAX_NAME_CHARACTERS = 60;

const ofUser = (name: string) => `\${${name}}`;
const ofDevice = (name: string) => `targeted_device.\${${name}}`;

/** Formats a variable in the syntax of campaigns. */
export const writtenName = ({ root, member }: Variable): string => {
  if (member === null) return root;
  return root === 'user' ? ofUser(member) : `${root}.${ofUser(member)}`;
};

/** Names that exist for every user. */
const ALWAYS_THERE = ['user_id', 'external_id'];

export const mayBeMissing = ({ root, member }: Variable): boolean =>
  root !== 'user' || member === null || !ALWAYS_THERE.includes(member);

const shortened = (name: string): string => truncate(name, MAX_NAME_CHARACTERS);

/** First two names of a template variable; `member` is `null` if the second name is computed. */
export interface Variable {
  root: string;
  member: string | null;
}

/** Returns the issue of a template variable; `null` if users may have the variable. */
const findIssue = ({ root, member }: Variable): Issue | null => {
  if (root === 'custom_attribute') return null;
  const [names, write] = root === 'targeted_device' ? [DEVICE_NAMES, ofDevice] : [USER_NAMES, ofUser];
  const isKnownRoot = root === 'user' || root === 'targeted_device';
  // The member of `user[other]` is only known at render time.
  if (isKnownRoot && member === null) return null;
  const name = isKnownRoot ? member! : root;
  if (isKnownRoot && names.includes(name)) return null;
  const written = isKnownRoot ? write(shortened(name)) : shortened(name);
  const meant = name.length > MAX_NAME_CHARACTERS ? null : suggest(name, names);
  return createIssue('unknown_variable', {
    variable: written,
    suggestion: meant === null ? null : write(meant),
  });
};

/** Maximum number of reported variables, because each is compared with every name. */
const MAX_TOLD = 20;

/** Returns an issue, with a suggestion, for each variable that no user has. */
export const unknownVariables = (variables: readonly Variable[]): Issue[] => {
  const issues = new Map<string, Issue>();
  const seen = new Set<string>();
  for (const variable of variables) {
    const key = JSON.stringify([variable.root, variable.member]);
    if (issues.size >= MAX_TOLD) break;
    if (seen.has(key)) continue;
    seen.add(key);
    const issue = findIssue(variable);
    if (issue !== null) issues.set(issue.message, issue);
  }
  return [...issues.values()];
};
