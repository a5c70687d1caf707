import { type ActivityStats, getOwn, type Profile } from '../../profiles/profile.ts';
import { STANDARD_NAMES } from '../../users/check-standard.ts';
import type { CampaignActivity } from '../campaign-activity.ts';

/** The user an audience is evaluated for, and the request that asks. */
export interface AudienceContext {
  externalId: string;
  /** `null` if the user has no profile: no attributes, and no events. */
  profile: Readonly<Profile> | null;
  /** What the user did in campaigns, by campaign ID. */
  campaigns(): Record<string, CampaignActivity>;
  appId: string;
  appVersion: string;
  /** Unix milliseconds. */
  nowMs: number;
}

type Read<Subject> = (subject: Subject) => unknown;

/** How operands of a value are checked. A moment is ISO 8601 text in a filter and Unix milliseconds here. */
type Kind = 'number' | 'moment';

/** What is known of a value before it is read. Without members and a kind it may be anything. */
export interface Shape {
  kind?: Kind;
  /** Shape of a member, or the reason why there is none of this name. */
  member?(name: string): Shape | string;
  /** Shape of the elements of a list. */
  element?: Shape;
}

export const ANY: Shape = {};

/** Where a condition finds its value: read, then follow the steps. */
export interface Located<Subject> {
  read: Read<Subject>;
  steps: readonly string[];
  shape: Shape;
}

interface Field {
  read: Read<AudienceContext>;
  shape?: Shape;
  /** Reads below the field without making its whole value. */
  below?(steps: readonly [string, ...string[]]): Pick<Located<AudienceContext>, 'read' | 'steps'>;
  /** Identifies one user, so counting by it needs the right to look at users. */
  isPersonal?: true;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const daysSince = (timeMs: number, nowMs: number): number => (nowMs - timeMs) / DAY_MS;

interface ActivityMember<T> {
  kind: Kind;
  read(activity: T, nowMs: number): number | undefined;
}

const EVENT = {
  count: { kind: 'number', read: ({ count }) => count },
  first: { kind: 'moment', read: ({ first }) => first },
  last: { kind: 'moment', read: ({ last }) => last },
  first_days_ago: { kind: 'number', read: ({ first }, nowMs) => daysSince(first, nowMs) },
  last_days_ago: { kind: 'number', read: ({ last }, nowMs) => daysSince(last, nowMs) },
} satisfies Record<string, ActivityMember<ActivityStats>>;

const PURCHASE = {
  ...EVENT,
  revenue: { kind: 'number', read: ({ revenue }) => revenue },
} satisfies Record<string, ActivityMember<Profile['purchases'][string]>>;

/** The count of one action and its last time; nothing if the user never did it. */
const actionMembers = (
  counted: string,
  action: string,
  of: (activity: CampaignActivity) => { count: number; lastMs: number | null },
): Record<string, ActivityMember<CampaignActivity>> => ({
  [counted]: { kind: 'number', read: (activity) => of(activity).count || undefined },
  [`last_${action}`]: { kind: 'moment', read: (activity) => of(activity).lastMs ?? undefined },
  [`last_${action}_days_ago`]: {
    kind: 'number',
    read: (activity, nowMs) => {
      const { lastMs } = of(activity);
      return lastMs === null ? undefined : daysSince(lastMs, nowMs);
    },
  },
});

const CAMPAIGN: Record<string, ActivityMember<CampaignActivity>> = {
  ...actionMembers('impressions', 'impression', ({ impressions, lastImpressionMs }) => ({
    count: impressions,
    lastMs: lastImpressionMs,
  })),
  ...actionMembers('clicks', 'click', ({ clicks, lastClickMs }) => ({ count: clicks, lastMs: lastClickMs })),
  ...actionMembers('dismissals', 'dismissal', ({ dismissals, lastDismissalMs }) => ({
    count: dismissals,
    lastMs: lastDismissalMs,
  })),
  ...actionMembers('conversions', 'conversion', ({ reachedMs }) => ({
    count: reachedMs.length,
    lastMs: reachedMs.length === 0 ? null : Math.max(...reachedMs),
  })),
};

/** Fields of one event, product or campaign. */
export const ACTIVITY_MEMBERS: readonly string[] = Object.keys({ ...PURCHASE, ...CAMPAIGN });

interface Activity<T> {
  members: Readonly<Record<string, ActivityMember<T>>>;
  of(context: AudienceContext): Record<string, T>;
  /** Field that has the same as a list, and the member of its entries that holds the name. */
  list: string;
  name: string;
}

/** The two fields of what a user did: by name, and as a list for names that have a dot. */
const activityFields = <T>(field: string, activity: Activity<T>): Record<string, Field> => {
  const { members, of, list, name: nameMember } = activity;
  const summary = (tally: T, nowMs: number) =>
    Object.fromEntries(Object.entries(members).map(([name, { read }]) => [name, read(tally, nowMs)]));
  const entries = (context: AudienceContext) => Object.entries(of(context));
  // Once for each context, because a user may have done a thousand things and many conditions may ask.
  const lists = new WeakMap<AudienceContext, unknown[]>();
  const leaf = (name: string): Shape => {
    const { kind } = members[name]!;
    return { kind, member: () => problem };
  };
  const problem = `expected one of ${Object.keys(members).join(', ')} after the name; a name with a dot is found in ${list}, with $elemMatch`;
  const isMember = (name: string) => Object.hasOwn(members, name);
  return {
    [field]: {
      read: (context) =>
        Object.fromEntries(entries(context).map(([name, tally]) => [name, summary(tally, context.nowMs)])),
      shape: { member: () => ({ member: (name) => (isMember(name) ? leaf(name) : problem) }) },
      below: ([name, member]) => {
        const { read } = (member !== undefined && members[member]) || { read: summary };
        return {
          steps: [],
          read: (context) => {
            const tally = getOwn(of(context), name);
            return tally ? read(tally, context.nowMs) : undefined;
          },
        };
      },
    },
    [list]: {
      shape: { element: { member: (name) => (isMember(name) ? leaf(name) : ANY) } },
      read: (context) => {
        const made =
          lists.get(context) ??
          entries(context).map(([name, tally]) => ({ [nameMember]: name, ...summary(tally, context.nowMs) }));
        lists.set(context, made);
        return made;
      },
    },
  };
};

const standard = (name: string): [string, Field] => [
  name,
  { read: ({ profile }) => profile?.standard[name] },
];

/** Everything an audience may name. Any other name at the top of a filter is a custom attribute. */
const FIELDS: Readonly<Record<string, Field>> = {
  external_id: { read: ({ externalId }) => externalId, isPersonal: true },
  braze_id: { read: ({ profile }) => (profile ? String(profile.userId) : undefined), isPersonal: true },
  user_aliases: { read: ({ profile }) => profile?.aliases ?? [], isPersonal: true },
  email: { read: ({ profile }) => profile?.email ?? undefined, isPersonal: true },
  phone: { read: ({ profile }) => profile?.phone ?? undefined, isPersonal: true },
  ...Object.fromEntries(STANDARD_NAMES.map(standard)),
  custom_attributes: {
    read: ({ profile }) => profile?.custom ?? {},
    below: ([name, ...steps]) => ({
      read: ({ profile }) => (profile ? getOwn(profile.custom, name) : undefined),
      steps,
    }),
  },
  subscription_groups: {
    read: ({ profile }) => {
      const groups = Object.entries(profile?.subscriptionGroups ?? {});
      return Object.fromEntries(groups.map(([id, { state }]) => [id, state]));
    },
    below: ([id, ...steps]) => ({
      read: ({ profile }) => profile && getOwn(profile.subscriptionGroups, id)?.state,
      steps,
    }),
  },
  ...activityFields('events', {
    members: EVENT,
    of: ({ profile }) => profile?.events ?? {},
    list: 'event_list',
    name: 'name',
  }),
  ...activityFields('purchases', {
    members: PURCHASE,
    of: ({ profile }) => profile?.purchases ?? {},
    list: 'purchase_list',
    name: 'product_id',
  }),
  ...activityFields('campaigns', {
    members: CAMPAIGN,
    of: ({ campaigns }) => campaigns(),
    list: 'campaign_list',
    name: 'campaign_id',
  }),
  app_id: { read: ({ appId }) => appId },
  app_version: { read: ({ appVersion }) => appVersion },
};

export const FIELD_NAMES: readonly string[] = Object.keys(FIELDS);

export const isPersonal = (path: string): boolean => {
  const [head = ''] = path.split('.');
  return Object.hasOwn(FIELDS, head) && FIELDS[head]!.isPersonal === true;
};

/** The field and the steps of a name at the top of a filter. */
const stepsOf = (name: string): readonly string[] => {
  const [head = '', ...rest] = name.split('.');
  if (head === 'subscription_groups') return [head, ...rest.map((step) => step.toLowerCase())];
  if (head === 'custom_attribute') return ['custom_attributes', ...rest];
  return Object.hasOwn(FIELDS, head) ? [head, ...rest] : ['custom_attributes', head, ...rest];
};

/** Returns the shape that the steps lead to, or the reason why they lead nowhere. */
export const descend = (shape: Shape, steps: readonly string[]): Shape | string => {
  let here = shape;
  for (const step of steps) {
    const next = here.member?.(step) ?? ANY;
    if (typeof next === 'string') return next;
    here = next;
  }
  return here;
};

/** Finds what a name at the top of a filter means; or the reason why no user can have it. */
export const locate = (name: string): Located<AudienceContext> | string => {
  const [head = '', ...steps] = stepsOf(name);
  const field = FIELDS[head]!;
  const shape = descend(field.shape ?? ANY, steps);
  if (typeof shape === 'string') return shape;
  const [first, ...others] = steps;
  if (first === undefined || !field.below) return { read: field.read, steps, shape };
  return { ...field.below([first, ...others]), shape };
};

/** IDs of the campaigns that a filter names, each once. */
export const campaignsIn = (filter: unknown): string[] => {
  if (typeof filter !== 'object' || filter === null) return [];
  const found = Object.entries(filter).flatMap(([name, value]) => {
    const [head, id] = name.split('.');
    if (head === 'campaigns' && id !== undefined) return [id];
    return name === 'campaign_id' && typeof value === 'string' ? [value] : campaignsIn(value);
  });
  return [...new Set(found)];
};
