import type { Profile } from './profile.ts';
import { latestFirst } from './resolve.ts';

const VALUES = ['identified', 'unidentified', 'most_recently_updated', 'least_recently_updated'] as const;
export type Priority = (typeof VALUES)[number];

const isPriority = (value: unknown): value is Priority => VALUES.includes(value as Priority);

/** The rules in their order, or `null` where they are none. */
export const checkPrioritization = (value: unknown): Priority[] | null => {
  if (!Array.isArray(value) || !value.every(isPriority)) return null;
  return value.includes('identified') && value.includes('unidentified') ? null : value;
};

/** The one profile that is left after the rules; `null` where there is none, or more than one. */
export const prioritize = (profiles: Profile[], rules: Priority[]): Profile | null => {
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
        left = left.toSorted(latestFirst).slice(0, 1);
        break;
      case 'least_recently_updated':
        left = left.toSorted((a, b) => latestFirst(b, a)).slice(0, 1);
    }
  }
  return left.length === 1 ? left[0]! : null;
};
