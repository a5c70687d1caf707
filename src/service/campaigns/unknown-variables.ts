import type { Liquid, Template } from 'liquidjs';
import { nearest } from '../nearest.ts';
import { STANDARD_NAMES } from '../users/check-standard.ts';
import { personaliseContext } from './personalise-context.ts';

/** What `${…}` may name: standard attributes, identifiers and the usual other names of both. */
const USER_NAMES: readonly string[] = [
  ...new Set([...STANDARD_NAMES, ...Object.keys(personaliseContext('', null, undefined, new Map()).user)]),
];
const DEVICE_NAMES = ['id', 'platform'];

const ofUser = (name: string) => `\${${name}}`;
const ofDevice = (name: string) => `targeted_device.\${${name}}`;

const sentence = (written: string, meant: string | undefined): string =>
  `unknown variable ${written}, which prints nothing${meant === undefined ? '' : `; did you mean ${meant}?`}`;

/** What is wrong with a variable of a template; `null` where users may have it. */
const problemOf = (root: string, member: unknown): string | null => {
  if (root === 'custom_attribute') return null;
  const [names, write] = root === 'targeted_device' ? [DEVICE_NAMES, ofDevice] : [USER_NAMES, ofUser];
  const isKnownRoot = root === 'user' || root === 'targeted_device';
  // `user[other]`: what it names is only known while a text is filled in.
  if (isKnownRoot && typeof member !== 'string') return null;
  const name = isKnownRoot ? String(member) : root;
  if (isKnownRoot && names.includes(name)) return null;
  const meant = nearest(name, names);
  return sentence(isKnownRoot ? write(name) : name, meant === null ? undefined : write(meant));
};

/** Reports each variable of a template that no user has, and what was probably meant. */
export const unknownVariables = (liquid: Liquid, template: Template[]): string[] => {
  // Partials are read from nowhere here; rendering one fails by itself.
  const { globals } = liquid.analyzeSync(template, { partials: false });
  const problems = Object.entries(globals).flatMap(([root, uses]) =>
    uses.flatMap(({ segments }) => problemOf(root, segments[1]) ?? []),
  );
  return [...new Set(problems)];
};
