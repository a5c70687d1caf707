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

/** Computes a member when a filter first reads it: most filters look at one or two. */
const lazy = (member: AudienceMember, name: keyof AudienceMember, compute: () => unknown) => {
  Object.defineProperty(member, name, {
    enumerable: true,
    configurable: true,
    get: () => {
      const value = compute();
      Object.defineProperty(member, name, { value, enumerable: true });
      return value;
    },
  });
};

/** The document that audience filters see. A user without a profile has done nothing and is nobody in particular. */
export const audienceOf = (
  { externalId, profile, appId, appVersion }: Asker,
  nowMs: number,
): AudienceMember => {
  const member = {
    ...profile?.standard,
    external_id: externalId,
    user_aliases: profile?.aliases ?? [],
    custom_attributes: profile?.custom ?? {},
    app_id: appId,
    app_version: appVersion,
  } as AudienceMember;
  if (profile) member.braze_id = profile.brazeId;
  if (profile?.email != null) member.email = profile.email;
  if (profile?.phone != null) member.phone = profile.phone;
  const events = () => byName(profile?.events ?? {}, (tally) => doings(tally, nowMs));
  const purchases = () =>
    byName(profile?.purchases ?? {}, (tally) => ({ ...doings(tally, nowMs), revenue: tally.revenue }));
  lazy(member, 'subscription_groups', () =>
    Object.fromEntries(
      Object.entries(profile?.subscriptionGroups ?? {}).map(([id, { state }]) => [id, state]),
    ),
  );
  lazy(member, 'events', events);
  lazy(member, 'purchases', purchases);
  lazy(member, 'event_list', () => Object.entries(events()).map(([name, done]) => ({ name, ...done })));
  lazy(member, 'purchase_list', () =>
    Object.entries(purchases()).map(([product_id, done]) => ({ product_id, ...done })),
  );
  return member;
};
