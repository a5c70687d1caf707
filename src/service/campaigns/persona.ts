import type { Profile } from '../profiles/profile.ts';
import { STANDARD_NAMES } from '../users/check-standard.ts';
import type { Persona } from '../workspace/studio-settings.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

interface Done {
  count?: number | undefined;
  last_days_ago?: number | undefined;
}

const tally = ({ count = 1, last_days_ago = 0 }: Done, nowMs: number) => {
  const last = nowMs - last_days_ago * DAY_MS;
  return { count, first: last, last };
};

/** The profile of a made-up user: what a real one would be who has these attributes and did these things. */
export const personaProfile = (persona: Persona, nowMs: number): Profile => {
  const { email, phone, ...attributes } = persona.attributes ?? {};
  const isStandard = ([name]: [string, unknown]) => STANDARD_NAMES.includes(name);
  const entries = Object.entries(attributes);
  return {
    userId: 0,
    externalId: 'persona',
    aliases: [],
    email: typeof email === 'string' ? email : null,
    phone: typeof phone === 'string' ? phone : null,
    standard: Object.fromEntries(entries.filter(isStandard)),
    custom: Object.fromEntries(entries.filter((entry) => !isStandard(entry))),
    subscriptionGroups: Object.fromEntries(
      Object.entries(persona.subscription_groups ?? {}).map(([id, state]) => [id.toLowerCase(), { state }]),
    ),
    pushTokens: [],
    events: Object.fromEntries((persona.events ?? []).map((done) => [done.name, tally(done, nowMs)])),
    purchases: Object.fromEntries(
      (persona.purchases ?? []).map((done) => [
        done.product_id,
        { ...tally(done, nowMs), revenue: done.revenue ?? 0 },
      ]),
    ),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
};
