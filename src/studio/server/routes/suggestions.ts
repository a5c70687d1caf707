import { setImmediate } from 'node:timers/promises';
import { NON_ATTRIBUTE_FIELDS, type Profile } from '../../../service/index.ts';
import { formatScalar, isScalar } from '../../campaign/scalar-text.ts';
import { get, type ResponseOf } from '../route.ts';
import { MIN_REPORTED_AUDIENCE, type SampleLoader } from './publish-impact.ts';

const MAX_USERS = 500;
const AT_ONCE = 50;
const MAX_NAMES = 300;
const MAX_VALUES = 20;
const MAX_VALUE_CHARACTERS = 60;

const createTally = () => {
  const counts = new Map<string, number>();
  return {
    add: (name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1),
    most: (max: number, least = 1) =>
      [...counts]
        .filter(([, count]) => count >= least)
        .sort(([, one], [, other]) => other - one)
        .slice(0, max)
        .map(([name]) => name),
  };
};

/**
 * Returns attributes, events and products of a sample of users, most frequent first. Includes values only if enough users share them or the operator can view users.
 */
export const createReadSuggestions = (loadSample: SampleLoader) =>
  get('/api/suggestions', 'view', async ({ store, workspace, operator }) => {
    const { users } = await loadSample(store, workspace.workspaceId);
    const [attributes, events, products] = [createTally(), createTally(), createTally()];
    const values = new Map<string, ReturnType<typeof createTally>>();
    const add = (profile: Readonly<Profile>) => {
      for (const [name, value] of Object.entries({ ...profile.standard, ...profile.custom })) {
        attributes.add(name);
        if (!isScalar(value) || String(value).length > MAX_VALUE_CHARACTERS) continue;
        const tally = values.get(name) ?? createTally();
        values.set(name, tally);
        tally.add(formatScalar(value));
      }
      for (const name of Object.keys(profile.events)) events.add(name);
      for (const name of Object.keys(profile.purchases)) products.add(name);
    };
    for (const [index, { profile }] of users.slice(0, MAX_USERS).entries()) {
      if (index % AT_ONCE === AT_ONCE - 1) await setImmediate();
      if (profile) add(profile);
    }
    const least = operator.canViewUsers ? 1 : MIN_REPORTED_AUDIENCE;
    return {
      /** Audience fields that are valid for every workspace. */
      fields: NON_ATTRIBUTE_FIELDS,
      attributes: attributes
        .most(MAX_NAMES)
        .map((name) => ({ name, values: values.get(name)?.most(MAX_VALUES, least) ?? [] })),
      events: events.most(MAX_NAMES),
      products: products.most(MAX_NAMES),
    };
  });
export type SuggestionsResponse = ResponseOf<ReturnType<typeof createReadSuggestions>>;
