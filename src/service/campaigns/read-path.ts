import { getOwn } from '../profiles/own.ts';
import type { Profile } from '../profiles/profile.ts';
import type { Asker } from './audience-of.ts';
import { daysSince } from './audience-of.ts';

/** Reads what an audience document has at a path, without making the document. */
export type ReadPath = (asker: Asker, nowMs: number) => unknown;

const step = (value: unknown, name: string): unknown => {
  // What is behind an array is any of its elements: that is for the library to find.
  if (value === undefined || value === null || Array.isArray(value)) return value;
  return (value as Record<string, unknown>)[name];
};

const inside = (root: ReadPath, steps: readonly string[]): ReadPath => {
  const [only = ''] = steps;
  // Nearly every path is that of a member or of a custom attribute.
  if (steps.length === 0) return root;
  if (steps.length === 1) return (asker, nowMs) => step(root(asker, nowMs), only);
  return (asker, nowMs) => steps.reduce(step, root(asker, nowMs));
};

/** The numbers of what was done; its dates are the library's to compare. */
const readEvent = (kind: 'events' | 'purchases', name: string, member: string): ReadPath | null => {
  const read =
    (number: (tally: Profile['purchases'][string], nowMs: number) => unknown): ReadPath =>
    ({ profile }, nowMs) => {
      const tally = profile ? getOwn<Profile['events'][string]>(profile[kind], name) : undefined;
      return tally && number(tally as Profile['purchases'][string], nowMs);
    };
  if (member === 'count') return read(({ count }) => count);
  if (member === 'first_days_ago') return read(({ first }, nowMs) => daysSince(first, nowMs));
  if (member === 'last_days_ago') return read(({ last }, nowMs) => daysSince(last, nowMs));
  return member === 'revenue' && kind === 'purchases' ? read(({ revenue }) => revenue) : null;
};

const ROOTS: Record<string, ReadPath> = {
  external_id: ({ externalId }) => externalId,
  braze_id: ({ profile }) => profile && String(profile.userId),
  email: ({ profile }) => profile?.email,
  phone: ({ profile }) => profile?.phone,
  app_id: ({ appId }) => appId,
  app_version: ({ appVersion }) => appVersion,
  custom_attributes: ({ profile }) => profile?.custom,
};

/** Members that are made for the library alone. */
const LISTS = ['user_aliases', 'event_list', 'purchase_list'];

/** `null` for a path that only the document itself can answer. */
export const readPath = (path: string): ReadPath | null => {
  const [head = '', ...rest] = path.split('.');
  const [first = '', second = ''] = rest;
  if (head === 'events' || head === 'purchases') {
    return rest.length === 2 ? readEvent(head, first, second) : null;
  }
  if (head === 'subscription_groups') {
    return rest.length === 1
      ? ({ profile }) => (profile ? getOwn(profile.subscriptionGroups, first)?.state : undefined)
      : null;
  }
  if (LISTS.includes(head)) return null;
  const root = Object.hasOwn(ROOTS, head) ? ROOTS[head]! : ({ profile }: Asker) => profile?.standard[head];
  return inside(root, rest);
};
