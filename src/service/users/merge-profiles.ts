import { getOwn, setOwn } from './own.ts';
import type { Profile, Tally } from './profile.ts';

const fillMissing = <T>(kept: Record<string, T>, merged: Record<string, T>) => {
  for (const [name, value] of Object.entries(merged))
    if (!Object.hasOwn(kept, name)) setOwn(kept, name, value);
};

const sumTallies = <T extends Tally & { revenue?: number }>(
  kept: Record<string, T>,
  merged: Record<string, T>,
) => {
  for (const [name, tally] of Object.entries(merged)) {
    const before = getOwn(kept, name);
    if (!before) {
      setOwn(kept, name, tally);
      continue;
    }
    before.count += tally.count;
    before.first = Math.min(before.first, tally.first);
    before.last = Math.max(before.last, tally.last);
    if (before.revenue !== undefined) before.revenue += tally.revenue ?? 0;
  }
};

/** What the kept profile does not have comes from the other: attributes, contacts, aliases, subscriptions, tokens. */
export const fillProfile = (kept: Profile, merged: Profile): void => {
  kept.email ??= merged.email;
  kept.phone ??= merged.phone;
  fillMissing(kept.standard, merged.standard);
  fillMissing(kept.custom, merged.custom);
  fillMissing(kept.subscriptionGroups, merged.subscriptionGroups);
  const labels = new Set(kept.aliases.map(({ alias_label }) => alias_label));
  kept.aliases = [...kept.aliases, ...merged.aliases.filter(({ alias_label }) => !labels.has(alias_label))];
  const devices = new Set(kept.pushTokens.map(({ app_id, device_id }) => `${app_id} ${device_id}`));
  kept.pushTokens = [
    ...kept.pushTokens,
    ...merged.pushTokens.filter(({ app_id, device_id }) => !devices.has(`${app_id} ${device_id}`)),
  ];
  kept.createdAtMs = Math.min(kept.createdAtMs, merged.createdAtMs);
};

/** `fillProfile`, and what both have done is added up. */
export const mergeProfile = (kept: Profile, merged: Profile): void => {
  fillProfile(kept, merged);
  sumTallies(kept.events, merged.events);
  sumTallies(kept.purchases, merged.purchases);
};
