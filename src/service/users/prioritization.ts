import type { Profile } from '../profiles/profile.ts';
import { earliestOf, latestOf } from './find-user.ts';

export const PRIORITIES = [
  'identified',
  'unidentified',
  'most_recently_updated',
  'least_recently_updated',
] as const;
export type Priority = (typeof PRIORITIES)[number];

const oneOrNone = (profile: Profile | null): Profile[] => (profile ? [profile] : []);

/** The one profile that is left after the rules; `null` where there is none, or more than one. */
export const prioritize = (profiles: Profile[], rules: readonly Priority[]): Profile | null => {
  let left = profiles;
  for (const rule of rules) {
    switch (rule) {
      case 'identified':
        left = left.filter((profile) => profile.externalId !== null);
        break;
      case 'unidentified':
        left = left.filter((profile) => profile.externalId === null);
        break;
      case 'most_recently_updated':
        left = oneOrNone(latestOf(left));
        break;
      case 'least_recently_updated':
        left = oneOrNone(earliestOf(left));
    }
  }
  return left.length === 1 ? left[0]! : null;
};
