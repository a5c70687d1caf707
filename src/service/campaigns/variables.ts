import { createIssue, type Issue } from '../issues.ts';
import type { Profile } from '../profiles/profile.ts';
import { suggest } from '../suggest.ts';
import { STANDARD_NAMES } from '../users/check-standard.ts';

/** What a property template may read. */
export interface PersonaliseContext {
  /** Standard attributes and identifiers by their wire name and by the usual template names: `{{${first_name}}}`. */
  user: Record<string, unknown>;
  /** `{{custom_attribute.${tier}}}`. */
  customAttributes: Record<string, unknown>;
  /** `{{targeted_device.${platform}}}`; empty where the device is not known. */
  device: Record<string, unknown>;
}

/** Names that templates use beside those of the wire. */
const aliasesOf = (standard: Record<string, unknown>) => ({
  city: standard['home_city'],
  date_of_birth: standard['dob'],
});

/** Everything a template may know of one user. A device counts as known when the profile has it. */
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
      ...aliasesOf(standard),
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

/** What `${…}` may name: standard attributes, identifiers and the usual other names of both. */
const USER_NAMES: readonly string[] = [
  ...new Set([...STANDARD_NAMES, ...Object.keys(personaliseContext('', null, undefined, new Map()).user)]),
];
const DEVICE_NAMES = ['id', 'platform'];
/** A longer name is no slip of one of these, and is not compared with them. */
const MAX_NAME_CHARACTERS = 60;

const ofUser = (name: string) => `\${${name}}`;
const ofDevice = (name: string) => `targeted_device.\${${name}}`;

/** A variable as a campaign writes it. */
export const writtenName = ({ root, member }: Variable): string => {
  if (member === null) return root;
  return root === 'user' ? ofUser(member) : `${root}.${ofUser(member)}`;
};

/** A user always has these. */
const ALWAYS_THERE = ['user_id', 'external_id'];

export const mayBeMissing = ({ root, member }: Variable): boolean =>
  root !== 'user' || member === null || !ALWAYS_THERE.includes(member);

const shortened = (name: string): string =>
  name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name;

/** A variable of a template by its first two names; `member` is `null` where the second is not written out. */
export interface Variable {
  root: string;
  member: string | null;
}

/** What is wrong with a variable of a template; `null` where users may have it. */
const issueOf = ({ root, member }: Variable): Issue | null => {
  if (root === 'custom_attribute') return null;
  const [names, write] = root === 'targeted_device' ? [DEVICE_NAMES, ofDevice] : [USER_NAMES, ofUser];
  const isKnownRoot = root === 'user' || root === 'targeted_device';
  // `user[other]`: what it names is only known while a text is filled in.
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

/** More than these say no more: each one is compared with every name. */
const MAX_TOLD = 20;

/** Says of each variable of a template that no user has it, and what was probably meant. */
export const unknownVariables = (variables: readonly Variable[]): Issue[] => {
  const issues = new Map<string, Issue>();
  const seen = new Set<string>();
  for (const variable of variables) {
    const key = JSON.stringify([variable.root, variable.member]);
    if (issues.size >= MAX_TOLD) break;
    if (seen.has(key)) continue;
    seen.add(key);
    const issue = issueOf(variable);
    if (issue !== null) issues.set(issue.message, issue);
  }
  return [...issues.values()];
};
