import { DAY_MS } from '../../../protocol/index.ts';
import { type EventCounts, type LastTimes, MEASURES } from '../../measures.ts';
import { type ActivityStats, getOwn, type Profile } from '../../profiles/profile.ts';
import { STANDARD_NAMES } from '../../users/check-standard.ts';

/** Activity of a user in one campaign that the user has seen. */
export interface CampaignActivity extends EventCounts, LastTimes {
  /** Times at which goals of the campaign were last reached since the first impression, in Unix milliseconds. */
  readonly reachedMs: readonly number[];
}

/** User and request for which an audience is evaluated. */
export interface AudienceContext {
  externalId: string;
  /** Profile of the user; `null` if none, so that the user has no attributes and no events. */
  profile: Readonly<Profile> | null;
  /** Returns the user's activity by campaign ID. */
  campaigns(): Record<string, CampaignActivity>;
  appId: string;
  appVersion: string;
  /** Unix milliseconds. */
  nowMs: number;
}

type Read<Subject> = (subject: Subject) => unknown;

/** Kind of operand. A moment is ISO 8601 text in a filter and a number of Unix milliseconds once compiled. */
type Kind = 'number' | 'moment';

/** Static type of a value. Without members and a kind, the value may have any type. */
export interface Shape {
  kind?: Kind;
  /** Returns the shape of a member, or the reason that the name is invalid. */
  member?(name: string): Shape | string;
  /** Shape of the list's elements. */
  element?: Shape;
}

export const ANY: Shape = {};

/** Resolved location of a condition's value. Call `read`, then follow the steps. */
export interface Located<Subject> {
  read: Read<Subject>;
  steps: readonly string[];
  shape: Shape;
}

interface Field {
  read: Read<AudienceContext>;
  shape?: Shape;
  /** Reads a part of the field without building its whole value. */
  below?(steps: readonly [string, ...string[]]): Pick<Located<AudienceContext>, 'read' | 'steps'>;
  /** The field identifies one user, so counts by this field require the permission to view users. */
  isPersonal?: true;
}

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

/** Returns the count and the last time of an action. Empty if the user never performed the action. */
const actionMembers = (
  counted: string,
  last: string,
  of: (activity: CampaignActivity) => { count: number; lastMs: number | null },
): Record<string, ActivityMember<CampaignActivity>> => ({
  [counted]: { kind: 'number', read: (activity) => of(activity).count || undefined },
  [last]: { kind: 'moment', read: (activity) => of(activity).lastMs ?? undefined },
  [`${last}_days_ago`]: {
    kind: 'number',
    read: (activity, nowMs) => {
      const { lastMs } = of(activity);
      return lastMs === null ? undefined : daysSince(lastMs, nowMs);
    },
  },
});

const CAMPAIGN: Record<string, ActivityMember<CampaignActivity>> = {
  ...Object.fromEntries(
    MEASURES.flatMap(({ events, lastAudienceField, lastMs }) =>
      Object.entries(
        actionMembers(events, lastAudienceField, (activity) => ({
          count: activity[events],
          lastMs: activity[lastMs],
        })),
      ),
    ),
  ),
  ...actionMembers('conversions', 'last_conversion', ({ reachedMs }) => ({
    count: reachedMs.length,
    lastMs: reachedMs.length === 0 ? null : Math.max(...reachedMs),
  })),
};

/** Names of the fields of an event, product or campaign. */
export const ACTIVITY_MEMBERS: readonly string[] = Object.keys({ ...PURCHASE, ...CAMPAIGN });

interface Activity<T> {
  members: Readonly<Record<string, ActivityMember<T>>>;
  of(context: AudienceContext): Record<string, T>;
  /** Field that holds the same data as a list. */
  list: string;
  /** Member of the list's entries that holds the name. */
  name: string;
}

/** Returns two fields of an activity, by name and as a list. The list supports names with a dot. */
const activityFields = <T>(field: string, activity: Activity<T>): Record<string, Field> => {
  const { members, of, list, name: nameMember } = activity;
  const summary = (stats: T, nowMs: number) =>
    Object.fromEntries(Object.entries(members).map(([name, { read }]) => [name, read(stats, nowMs)]));
  const entries = (context: AudienceContext) => Object.entries(of(context));
  // Lists are cached per context, because a user may have a thousand entries, and many conditions may read them.
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
        Object.fromEntries(entries(context).map(([name, stats]) => [name, summary(stats, context.nowMs)])),
      shape: { member: () => ({ member: (name) => (isMember(name) ? leaf(name) : problem) }) },
      below: ([name, member]) => {
        const { read } = (member !== undefined && members[member]) || { read: summary };
        return {
          steps: [],
          read: (context) => {
            const stats = getOwn(of(context), name);
            return stats ? read(stats, context.nowMs) : undefined;
          },
        };
      },
    },
    [list]: {
      shape: { element: { member: (name) => (isMember(name) ? leaf(name) : ANY) } },
      read: (context) => {
        const made =
          lists.get(context) ??
          entries(context).map(([name, stats]) => ({ [nameMember]: name, ...summary(stats, context.nowMs) }));
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

/** Fields of an audience. Any other name at the top of a filter is a custom attribute. */
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

/** Fields that are not attributes, so that no list of a user's attributes contains them. */
export const NON_ATTRIBUTE_FIELDS = FIELD_NAMES.filter((name) => !STANDARD_NAMES.includes(name));

export const isPersonal = (path: string): boolean => {
  const [head = ''] = path.split('.');
  return Object.hasOwn(FIELDS, head) && FIELDS[head]!.isPersonal === true;
};

/** Returns the field and steps of a name at the top of a filter. */
const parseSteps = (name: string): readonly string[] => {
  const [head = '', ...rest] = name.split('.');
  if (head === 'subscription_groups') return [head, ...rest.map((step) => step.toLowerCase())];
  if (head === 'custom_attribute') return ['custom_attributes', ...rest];
  return Object.hasOwn(FIELDS, head) ? [head, ...rest] : ['custom_attributes', head, ...rest];
};

/** Returns the shape at the end of the steps, or the reason that a step is invalid. */
export const descend = (shape: Shape, steps: readonly string[]): Shape | string => {
  let here = shape;
  for (const step of steps) {
    const next = here.member?.(step) ?? ANY;
    if (typeof next === 'string') return next;
    here = next;
  }
  return here;
};

/** Resolves a name at the top of a filter. Returns a reason if no user can have this field. */
export const locate = (name: string): Located<AudienceContext> | string => {
  const [head = '', ...steps] = parseSteps(name);
  const field = FIELDS[head]!;
  const shape = descend(field.shape ?? ANY, steps);
  if (typeof shape === 'string') return shape;
  const [first, ...others] = steps;
  if (first === undefined || !field.below) return { read: field.read, steps, shape };
  return { ...field.below([first, ...others]), shape };
};

/** Returns the distinct IDs of campaigns in a filter. */
export const findCampaignIds = (filter: unknown): string[] => {
  if (typeof filter !== 'object' || filter === null) return [];
  const found = Object.entries(filter).flatMap(([name, value]) => {
    const [head, id] = name.split('.');
    if (head === 'campaigns' && id !== undefined) return [id];
    return name === 'campaign_id' && typeof value === 'string' ? [value] : findCampaignIds(value);
  });
  return [...new Set(found)];
};
