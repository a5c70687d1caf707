import type { Profile, Tally } from '../users/profile.ts';
import type { AudienceMember, Doings } from './audience-member.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Who asks for banners: the profile where there is one, and where the question comes from. */
export interface Asker {
  externalId: string;
  profile: Profile | null;
  appId: string;
  appVersion: string;
}

const doings = ({ count, first, last }: Tally, nowMs: number): Doings => ({
  count,
  first: new Date(first),
  last: new Date(last),
  first_days_ago: (nowMs - first) / DAY_MS,
  last_days_ago: (nowMs - last) / DAY_MS,
});

const byName = <T extends Tally, R>(tallies: Record<string, T>, make: (tally: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(tallies).map(([name, tally]) => [name, make(tally)]));

/** Computes what a filter asks for, when it asks first: most filters look at one or two members. */
const once = <T>(compute: () => T): (() => T) => {
  let known: T | undefined;
  return () => {
    known ??= compute();
    return known;
  };
};

/** The document that audience filters see. A user without a profile has done nothing and is nobody in particular. */
export const audienceOf = (
  { externalId, profile, appId, appVersion }: Asker,
  nowMs: number,
): AudienceMember => {
  const groups = once(() =>
    Object.fromEntries(
      Object.entries(profile?.subscriptionGroups ?? {}).map(([id, { state }]) => [id, state]),
    ),
  );
  const events = once(() => byName(profile?.events ?? {}, (tally) => doings(tally, nowMs)));
  const purchases = once(() =>
    byName(profile?.purchases ?? {}, (tally) => ({ ...doings(tally, nowMs), revenue: tally.revenue })),
  );
  return {
    ...profile?.standard,
    ...(profile && { braze_id: profile.brazeId }),
    ...(profile?.email != null && { email: profile.email }),
    ...(profile?.phone != null && { phone: profile.phone }),
    external_id: externalId,
    user_aliases: profile?.aliases ?? [],
    custom_attributes: profile?.custom ?? {},
    app_id: appId,
    app_version: appVersion,
    get subscription_groups() {
      return groups();
    },
    get events() {
      return events();
    },
    get purchases() {
      return purchases();
    },
    get event_list() {
      return Object.entries(events()).map(([name, done]) => ({ name, ...done }));
    },
    get purchase_list() {
      return Object.entries(purchases()).map(([product_id, done]) => ({ product_id, ...done }));
    },
  };
};
