// Reference model of a workspace: stores what was sent in plain lists and computes every number from them as documented.

export const HOUR = 3_600_000;

export interface CampaignSpec {
  campaign_id: string;
  placements: string[];
  priority?: 'high' | 'medium' | 'low';
  audience?: { $segment: string };
  control_percentage?: number;
  reeligible_after_hours?: number;
  test_users?: string[];
  tags?: string[];
  frequency?: {
    impressions?: { max: number; days: number };
    stop_after?: { clicks?: number; conversions?: number };
  };
  language?: string;
  conversions?: GoalSpec[];
  variants: {
    variant_id: string;
    weight: number;
    translations?: Record<string, Record<string, string>>;
    on_click?: { event: string; attributes: Record<string, unknown> };
    properties: Record<string, unknown>;
  }[];
}
export interface GoalSpec {
  event?: string;
  product?: string;
  within_hours: number;
}

export type EventType = 'impression' | 'click' | 'dismiss';

/** Facts behind a banner that a sync returned. */
export interface BannerFacts {
  campaignId: string;
  variantId: string | null;
  placementId: string;
  language: string | null;
  isTestSend: boolean;
}

export interface Seen extends BannerFacts {
  /** Deduplication key: of two events with the same name, one is stored. */
  name: string;
  type: EventType;
  ms: number;
  day: string;
  /** Whether it also counts for the holdout's arm. */
  isOfHoldout: boolean;
}

export interface Done {
  event?: string;
  product?: string;
  spent: number;
  count: number;
  currency: string | null;
  ms: number;
}

export interface Person {
  externalId: string | null;
  aliases: string[];
  hasProfile: boolean;
  tier: string | null;
  language: string | null;
  seen: Seen[];
  done: Done[];
  clicks: Set<string>;
}

export const aPerson = (members: Partial<Person>): Person => ({
  externalId: null,
  aliases: [],
  hasProfile: false,
  tier: null,
  language: null,
  seen: [],
  done: [],
  clicks: new Set(),
  ...members,
});

/** Stores a banner event, unless the user already has it. */
export const see = (person: Person, event: Seen): void => {
  if (!person.seen.some(({ name }) => name === event.name)) person.seen.push(event);
};

export const become = (kept: Person, merged: Person): void => {
  for (const each of merged.seen) see(kept, each);
  kept.done.push(...merged.done);
  kept.aliases.push(...merged.aliases);
  kept.tier ??= merged.tier;
  kept.language ??= merged.language;
  for (const click of merged.clicks) kept.clicks.add(click);
};

const getCounts = (seen: readonly (Seen & { person: Person })[]) => {
  const of = (type: EventType) => seen.filter((each) => each.type === type);
  const people = (type: EventType) => new Set(of(type).map(({ person }) => person)).size;
  return {
    impressions: of('impression').length,
    clicks: of('click').length,
    dismissals: of('dismiss').length,
    exposed: people('impression'),
    clicked: people('click'),
    dismissed: people('dismiss'),
  };
};

/** Events that count for a campaign or for the holdout. */
const countedFor = (person: Person, campaignId: string): Seen[] =>
  person.seen
    .filter(({ isTestSend }) => !isTestSend)
    .flatMap((each) => {
      if (campaignId === '@holdout' && each.isOfHoldout) return [{ ...each, variantId: 'campaigns' }];
      return each.campaignId === campaignId ? [each] : [];
    });

export const getFirst = (seen: readonly Seen[]): Seen | undefined =>
  seen
    .filter(({ type }) => type === 'impression')
    .toSorted((a, b) => a.ms - b.ms || ((a.variantId ?? '') < (b.variantId ?? '') ? -1 : 1))[0];

const reaches = (goal: GoalSpec, each: Done) =>
  goal.event === undefined ? each.product === goal.product : each.event === goal.event;

export interface Expected {
  arms: Record<string, unknown>;
  days: Record<string, unknown>;
  placements: Record<string, unknown>;
  languages: Record<string, unknown>;
  currencies: string[];
}

const NOTHING = { impressions: 0, clicks: 0, dismissals: 0, exposed: 0, clicked: 0, dismissed: 0 };

export const expectedResults = (
  people: readonly Person[],
  campaignId: string,
  goals: readonly GoalSpec[],
  known: {
    /** Arms to include even without impressions. */
    arms: readonly (string | null)[];
    getDay(ms: number): string;
  },
): Expected => {
  const counted: (Seen & { person: Person; arm: string })[] = [];
  const firsts: { person: Person; arm: string; ms: number }[] = [];
  for (const person of people) {
    const theirs = countedFor(person, campaignId);
    const first = getFirst(theirs);
    if (!first) continue;
    const arm = String(first.variantId);
    firsts.push({ person, arm, ms: first.ms });
    for (const each of theirs) counted.push({ ...each, person, arm });
  }
  const currencies = new Set<string>();
  /** Users who reached each goal. */
  const converted = goals.map((goal) =>
    firsts.flatMap(({ person, arm, ms }) => {
      const reached = person.done.filter(
        (each) => reaches(goal, each) && each.ms >= ms && each.ms <= ms + goal.within_hours * HOUR,
      );
      for (const { currency } of reached) if (currency) currencies.add(currency);
      if (reached.length === 0) return [];
      const day = known.getDay(Math.min(...reached.map((each) => each.ms)));
      return [{ arm, day, spent: reached.reduce((sum, each) => sum + each.spent, 0) }];
    }),
  );
  const getGoals = (isCounted: (user: { arm: string; day: string }) => boolean) =>
    converted.map((users) => {
      const spent = users.filter(isCounted).map((user) => user.spent);
      return {
        converted: spent.length,
        revenue: spent.reduce((sum, each) => sum + each, 0),
        revenueSumOfSquares: spent.reduce((sum, each) => sum + each ** 2, 0),
      };
    });
  const arms = [...new Set([...known.arms.map(String), ...counted.map(({ arm }) => arm)])];
  const parts = (getPart: (each: Seen) => string | null) => {
    const groups = Map.groupBy(
      counted.filter((each) => getPart(each) !== null),
      (each) => `${getPart(each)} ${each.arm}`,
    );
    return Object.fromEntries([...groups].map(([name, of]) => [name, getCounts(of)]));
  };
  const days = parts(({ day }) => day);
  return {
    arms: Object.fromEntries(
      arms.map((arm) => [
        arm,
        {
          ...NOTHING,
          ...getCounts(counted.filter((each) => each.arm === arm)),
          goals: getGoals((user) => user.arm === arm),
        },
      ]),
    ),
    days: Object.fromEntries(
      [...new Set([...Object.keys(days), ...converted.flat().map(({ day, arm }) => `${day} ${arm}`)])].map(
        (name) => [
          name,
          { ...NOTHING, ...days[name], goals: getGoals(({ day, arm }) => `${day} ${arm}` === name) },
        ],
      ),
    ),
    placements: parts(({ placementId }) => placementId),
    languages: parts(({ language }) => language),
    currencies: [...currencies].sort(),
  };
};

const RANKS = { high: 0, medium: 1, low: 2 };
export const inOrder = (campaigns: readonly CampaignSpec[]): CampaignSpec[] =>
  campaigns.toSorted((a, b) => RANKS[a.priority ?? 'medium'] - RANKS[b.priority ?? 'medium']);

/** Expected outcome per placement: one word for each of its campaigns. */
export const expectedOutcomes = (
  person: Person | undefined,
  externalId: string,
  placements: readonly string[],
  {
    campaigns,
    vip,
    now,
    getDay,
    promoADay,
  }: {
    campaigns: readonly CampaignSpec[];
    vip: string;
    now: number;
    getDay(ms: number): string;
    promoADay: number;
  },
): Record<string, [campaignId: string, outcome: string][]> => {
  const of = (campaignId: string) => (person ? countedFor(person, campaignId) : []);
  const impressions = (campaignId: string) => of(campaignId).filter(({ type }) => type === 'impression');
  const today = getDay(now);
  /** Calendar days before today. */
  const daysAgo = (day: string) => Math.round((Date.parse(today) - Date.parse(day)) / (24 * HOUR));
  const seenToday = new Set(
    campaigns.flatMap(({ campaign_id: id }) =>
      impressions(id).some(({ ms }) => getDay(ms) === today) ? [id] : [],
    ),
  );
  const capped = (campaign: CampaignSpec): boolean => {
    const { campaign_id: id, frequency, tags = [], conversions = [] } = campaign;
    const theirs = of(id);
    const { clicks, conversions: reached } = frequency?.stop_after ?? {};
    if (clicks !== undefined && theirs.filter(({ type }) => type === 'click').length >= clicks) return true;
    const first = getFirst(theirs);
    const done = conversions.filter((goal) =>
      person?.done.some((each) => first && reaches(goal, each) && each.ms >= first.ms),
    );
    if (reached !== undefined && theirs.length > 0 && done.length >= reached) return true;
    if (frequency?.impressions) {
      const { max, days } = frequency.impressions;
      if (impressions(id).filter(({ ms }) => daysAgo(getDay(ms)) < days).length >= max) return true;
    }
    if (seenToday.has(id) || !tags.includes('promo')) return false;
    const others = campaigns.filter(
      (each) => each.tags?.includes('promo') && seenToday.has(each.campaign_id),
    );
    return others.length >= promoADay;
  };
  return Object.fromEntries(
    placements.map((placementId) => {
      let isTaken = false;
      const here = inOrder(campaigns).filter((each) => each.placements.includes(placementId));
      const isTest = (each: CampaignSpec) => each.test_users?.includes(externalId) ?? false;
      const words = [...here.filter(isTest), ...here.filter((each) => !isTest(each))].map(
        (campaign): [string, string] => {
          const { campaign_id: id, audience, reeligible_after_hours: hours } = campaign;
          if (!isTest(campaign) && audience && person?.tier !== vip) return [id, 'not_in_audience'];
          const dismissals = of(id).filter(({ type }) => type === 'dismiss');
          const last = Math.max(...dismissals.map(({ ms }) => ms));
          if (dismissals.length > 0 && (hours === undefined || now < last + hours * HOUR))
            return [id, 'dismissed'];
          if (!isTest(campaign) && capped(campaign)) return [id, 'frequency_capped'];
          if (isTaken) return [id, 'outranked'];
          isTaken = true;
          seenToday.add(id);
          return [id, 'shown'];
        },
      );
      return [placementId, words];
    }),
  );
};
