import type { Store } from '../service/index.ts';
import type { ConversionText } from './campaign/campaign-text.ts';

/** What came of one variant, or of the control group, whose ID is `null`. People are counted once each. */
export interface ArmCounts {
  variantId: string | null;
  /** People who saw it; of the control group, people who would have. */
  exposed: number;
  impressions: number;
  clicks: number;
  clicked: number;
  dismissed: number;
  /** As the campaign's `conversions`: people, and the sum and the sum of squares of what each spent. */
  goals: { converted: number; revenue: number; revenueSquares: number }[];
}

/** One variant on one UTC day: people who saw it, and those who clicked it. */
export interface DayCounts {
  day: string;
  variantId: string | null;
  exposed: number;
  clicked: number;
}

export interface CampaignCounts {
  arms: ArmCounts[];
  days: DayCounts[];
  /** Currencies of the revenue that is counted: of several nothing can be said in one number. */
  currencies: string[];
}

interface Person {
  arm: string | null;
  firstMs: number;
  impressions: number;
  clicks: number;
  dismissed: boolean;
  /** By goal: what they spent, once they have reached it. */
  goals: (number | null)[];
}

const HOUR_MS = 3_600_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const spentIn = (details: Record<string, unknown>): number => {
  const price = Number(details['price'] ?? 0);
  const quantity = Number(details['quantity'] ?? 1);
  return Number.isFinite(price * quantity) ? price * quantity : 0;
};

/**
 * The counts of one campaign, from the workspace's events. Somebody who saw two variants, because their shares were
 * changed, counts for the first.
 */
export const resultsOf = async (
  store: Store,
  workspaceId: string,
  campaignId: string,
  conversions: readonly ConversionText[],
): Promise<CampaignCounts> => {
  const people = new Map<string, Person>();
  const days = new Map<
    string,
    { day: string; variantId: string | null; seen: Set<string>; clicked: Set<string> }
  >();
  const acts: { user: string; type: string; ms: number }[] = [];
  const dayFor = (ms: number, variantId: string | null) => {
    const day = dayOf(ms);
    const key = `${day} ${variantId}`;
    const found = days.get(key) ?? { day, variantId, seen: new Set(), clicked: new Set() };
    days.set(key, found);
    return found;
  };

  for await (const event of store.exportBannerEvents(workspaceId)) {
    if (event.campaignId !== campaignId) continue;
    const ms = Math.min(event.timestampMs, event.receivedAtMs);
    const user = event.externalUserId;
    const arm = event.isControl ? null : event.variantId;
    if (event.eventType !== 'impression') {
      acts.push({ user, type: event.eventType, ms });
      continue;
    }
    const person = people.get(user);
    if (!person) {
      const goals = conversions.map(() => null);
      people.set(user, { arm, firstMs: ms, impressions: 1, clicks: 0, dismissed: false, goals });
    } else {
      person.impressions += 1;
      if (ms < person.firstMs) Object.assign(person, { firstMs: ms, arm });
    }
    dayFor(ms, arm).seen.add(user);
  }
  for (const { user, type, ms } of acts) {
    const person = people.get(user);
    if (!person) continue;
    if (type === 'dismiss') person.dismissed = true;
    else {
      person.clicks += 1;
      dayFor(ms, person.arm).clicked.add(user);
    }
  }

  const currencies = new Set<string>();
  if (conversions.length > 0) {
    for await (const { externalId, kind, name, timeMs, details } of store.exportEvents(workspaceId)) {
      const person = externalId === null ? undefined : people.get(externalId);
      if (!person) continue;
      for (const [index, { event, product, within_hours }] of conversions.entries()) {
        const isGoal = kind === 'event' ? event === name : product === name;
        const after = timeMs - person.firstMs;
        if (!isGoal || after < 0 || after > within_hours * HOUR_MS) continue;
        const spent = kind === 'purchase' ? spentIn(details) : 0;
        if (kind === 'purchase') currencies.add(String(details['currency']));
        person.goals[index] = (person.goals[index] ?? 0) + spent;
      }
    }
  }

  const arms = new Map<string | null, ArmCounts>();
  for (const { arm, impressions, clicks, dismissed, goals } of people.values()) {
    const counts = arms.get(arm) ?? {
      variantId: arm,
      exposed: 0,
      impressions: 0,
      clicks: 0,
      clicked: 0,
      dismissed: 0,
      goals: conversions.map(() => ({ converted: 0, revenue: 0, revenueSquares: 0 })),
    };
    arms.set(arm, counts);
    counts.exposed += 1;
    counts.impressions += impressions;
    counts.clicks += clicks;
    if (clicks > 0) counts.clicked += 1;
    if (dismissed) counts.dismissed += 1;
    for (const [index, spent] of goals.entries()) {
      if (spent === null) continue;
      const goal = counts.goals[index]!;
      goal.converted += 1;
      goal.revenue += spent;
      goal.revenueSquares += spent * spent;
    }
  }
  return {
    arms: [...arms.values()],
    days: [...days.values()]
      .map(({ day, variantId, seen, clicked }) => ({
        day,
        variantId,
        exposed: seen.size,
        clicked: clicked.size,
      }))
      .sort((one, other) => one.day.localeCompare(other.day)),
    currencies: [...currencies],
  };
};
