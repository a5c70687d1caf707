import { isPhone } from '../../protocol/index.ts';
import { type ActivityStats, addClamped, getOwn, type Profile, setOwn } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';
import { CLICK_DEDUPE_LIMIT } from './click-effects.ts';
import { parseDate } from './dates.ts';
import { joinTokens } from './push-tokens.ts';
import { findTarget, type Target } from './targets.ts';

const fillMissing = <T>(kept: Record<string, T>, merged: Record<string, T>) => {
  for (const [name, value] of Object.entries(merged))
    if (!Object.hasOwn(kept, name)) setOwn(kept, name, value);
};

const sumTallies = <T extends ActivityStats & { revenue?: number }>(
  kept: Record<string, T>,
  merged: Record<string, T>,
) => {
  for (const [name, stats] of Object.entries(merged)) {
    const before = getOwn(kept, name);
    if (!before) {
      setOwn(kept, name, stats);
      continue;
    }
    before.count += stats.count;
    before.first = Math.min(before.first, stats.first);
    before.last = Math.max(before.last, stats.last);
    if (before.revenue !== undefined) before.revenue = addClamped(before.revenue, stats.revenue ?? 0);
  }
};

/**
 * Fills in missing attributes, contacts, aliases, subscriptions and tokens of the kept profile. Exceeds the limits of
 * `/users/track` if needed, because the response of a merge cannot report omitted values.
 */
const fillProfile = (kept: Profile, merged: Profile): void => {
  kept.email ??= merged.email;
  kept.phone ??= merged.phone;
  fillMissing(kept.standard, merged.standard);
  fillMissing(kept.custom, merged.custom);
  fillMissing(kept.subscriptionGroups, merged.subscriptionGroups);
  const labels = new Set(kept.aliases.map(({ alias_label }) => alias_label));
  kept.aliases = [...kept.aliases, ...merged.aliases.filter(({ alias_label }) => !labels.has(alias_label))];
  kept.pushTokens = joinTokens(kept.pushTokens, merged.pushTokens);
  kept.createdAtMs = Math.min(kept.createdAtMs, merged.createdAtMs);
};

/** Returns the date that `isBetter` prefers, as sent. Prefers a valid date to an invalid date. */
const chooseDate = (
  kept: Profile,
  merged: Profile,
  name: string,
  isBetter: (a: number, b: number) => boolean,
) => {
  const [ours, theirs] = [kept, merged].map(({ standard }) => {
    const value = getOwn(standard, name);
    return typeof value === 'string' ? parseDate(value) : null;
  });
  if (theirs === null || theirs === undefined) return;
  if (ours === null || ours === undefined || isBetter(theirs, ours))
    kept.standard[name] = merged.standard[name];
};

/** Fills in the kept profile, and adds up the activity of both. If either is identified, the result is identified. */
export const mergeProfile = (kept: Profile, merged: Profile): void => {
  kept.externalId ??= merged.externalId;
  chooseDate(kept, merged, 'date_of_first_session', (a, b) => a < b);
  chooseDate(kept, merged, 'date_of_last_session', (a, b) => a > b);
  fillProfile(kept, merged);
  sumTallies(kept.events, merged.events);
  sumTallies(kept.purchases, merged.purchases);
  kept.onClickHashes = [...new Set([...merged.onClickHashes, ...kept.onClickHashes])].slice(
    -CLICK_DEDUPE_LIMIT,
  );
};

/** Merges two users if both exist and differ. */
export const mergeUsers = (users: UserRepository, update: { merge: Target; keep: Target }, nowMs: number) => {
  const [merged, kept] = [findTarget(users, update.merge), findTarget(users, update.keep)];
  if (!merged || !kept || merged === kept) return;
  const haveBadPhones = [merged, kept].every(({ phone }) => phone !== null && !isPhone(phone));
  if (haveBadPhones) return;
  mergeProfile(kept, merged);
  users.merge(kept, merged, nowMs);
};
