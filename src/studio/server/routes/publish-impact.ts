import * as z from 'zod';
import {
  type Campaign,
  campaignOrder,
  campaignsIn,
  countReach,
  HttpError,
  personsIn,
  REACH_SAMPLE,
  type Reach,
  readCampaign,
  type Store,
  VIEW_USER,
  type Workspace,
} from '../../../service/index.ts';
import { bodyOf, defineRoute, type StudioContext } from '../route.ts';

const campaignBody = z.strictObject({ campaign: z.looseObject({}) });
type CampaignBody = z.output<typeof campaignBody>;

/** The first of several campaigns, in their order, and how many there are. */
export interface NamedCampaigns {
  names: string[];
  count: number;
}
const MAX_NAMES = 3;

/** What publishing a draft would do, placement by placement. */
export interface PublishImpact {
  placements: {
    id: string;
    name: string;
    /** Campaigns that run there now and come before it: users in their audiences never get this one. */
    after: NamedCampaigns;
    /** Campaigns that run there now and come after it: users in both audiences get this one. */
    before: NamedCampaigns;
  }[];
}

const isRunning = ({ status, startsAtMs, endsAtMs }: Campaign, nowMs: number) =>
  status === 'active' && (startsAtMs ?? 0) <= nowMs && nowMs < (endsAtMs ?? Number.POSITIVE_INFINITY);

const publishImpact = (content: unknown, workspace: Workspace, nowMs: number): PublishImpact => {
  const { campaign } = readCampaign(content, { segments: workspace.segments, publishedAtMs: nowMs });
  if (!campaign) return { placements: [] };
  const others = workspace.campaigns.filter(({ campaignId }) => campaignId !== campaign.campaignId);
  // In the order in which the service decides, once the draft is published.
  const { campaigns, placements } = campaignOrder({ ...workspace, campaigns: [...others, campaign] });
  const own = campaigns.indexOf(campaign);
  const nameOf = new Map(workspace.placements?.map(({ placementId, name }) => [placementId, name]));
  return {
    placements: [...campaign.placements].map((id) => {
      const ranks = placements.get(id)!.all.filter((rank) => isRunning(campaigns[rank]!, nowMs));
      const named = (isIn: (rank: number) => boolean): NamedCampaigns => {
        const found = ranks.filter(isIn);
        return { names: found.slice(0, MAX_NAMES).map((rank) => campaigns[rank]!.name), count: found.length };
      };
      return {
        id,
        name: nameOf.get(id) ?? id,
        after: named((rank) => rank < own),
        before: named((rank) => rank > own),
      };
    }),
  };
};

/** What publishing would change for users. */
export const readPublishImpact = defineRoute({
  method: 'POST',
  path: '/api/publish-impact',
  role: 'view',
  body: bodyOf(campaignBody),
  answer: (context) => {
    const effect: PublishImpact = publishImpact(context.body.campaign, context.workspace, context.nowMs);
    return { status: 200, body: effect };
  },
});

/** Fewer people than these are not told apart: who knows most of them would learn something of the others. */
export const MIN_REPORTED_AUDIENCE = 20;
const STEP = 10;
/** So long the same users are looked at: what somebody types in the meantime costs no read of the database. */
const SAMPLE_MS = 10_000;

export interface ReachResponse extends Reach {
  /** Where the audience holds fewer people than these, they are not counted: all numbers of them are 0. `null` where they are. */
  fewerThan: number | null;
}

/**
 * Counts of people in steps, for those who may not look at single users; below the floor there is no number. Where fewer than the
 * floor are left out, all count: a filter for everyone but a few would tell of those few.
 */
export const rounded = ({ users, atLeast, atMost, of, shown }: Reach): ReachResponse => {
  /** `to` is what the number becomes where all but a few of `all` are in it. */
  const down = (count: number, all = of, to = all) =>
    Math.floor((all - count < MIN_REPORTED_AUDIENCE ? to : count) / STEP) * STEP;
  const up = (count: number) => Math.min(of, Math.ceil(count / STEP) * STEP);
  if (users < MIN_REPORTED_AUDIENCE) {
    const fewerThan =
      atLeast === atMost ? MIN_REPORTED_AUDIENCE : Math.max(MIN_REPORTED_AUDIENCE, up(atMost));
    return { users: 0, atLeast: 0, atMost: 0, of, shown: 0, fewerThan };
  }
  return {
    users: down(users),
    // A count that is exact has no bounds.
    atLeast: down(atLeast),
    atMost: atLeast === atMost ? down(atMost) : up(atMost),
    of,
    shown: down(shown, users, of - users < MIN_REPORTED_AUDIENCE ? of : users),
    fewerThan: null,
  };
};

type Sample = ReturnType<Store['sampleUsers']>;

/** Some users of each workspace: the same ones for some seconds. */
export type SampleOf = (store: Store, workspaceId: string, campaignIds?: readonly string[]) => Sample;

export const createSamples = (): SampleOf => {
  const samples = new Map<string, { atMs: number; sample: Sample }>();
  return (store, workspaceId, campaignIds = []) => {
    const key = JSON.stringify([workspaceId, ...campaignIds]);
    const kept = samples.get(key);
    const nowMs = performance.now();
    if (kept && nowMs - kept.atMs < SAMPLE_MS) return kept.sample;
    const sample = store.sampleUsers({ workspaceId, size: REACH_SAMPLE, campaignIds });
    const entry = { atMs: nowMs, sample };
    samples.set(key, entry);
    const forget = () => void (samples.get(key) === entry && samples.delete(key));
    sample.catch(forget);
    setTimeout(forget, SAMPLE_MS).unref();
    return sample;
  };
};

/**
 * About how many users are in the audience of a campaign as it is in the body, and how many would get it. Each operator has one
 * count under way: a newer question ends an older one. Who is named by an ID or an address needs the right to people, as in `why`.
 */
export const createReadReach = (sampleOf: SampleOf) => {
  const newest = new Map<string, symbol>();
  const underWay = new Map<string, Promise<unknown>>();

  const count = async (
    context: StudioContext<CampaignBody>,
    isOver: () => boolean,
  ): Promise<ReachResponse | null> => {
    const { workspace, store, body, nowMs, operator, audit } = context;
    const { campaign, problems } = readCampaign(body.campaign, {
      segments: workspace.segments,
      publishedAtMs: nowMs,
    });
    if (!campaign) {
      const [problem] = problems;
      throw new HttpError(
        422,
        `The campaign cannot be read: ${problem?.path.join('.')}: ${problem?.message}`,
      );
    }
    const persons = personsIn(campaign.audience?.filter ?? {});
    if (persons.length > 0) {
      if (!operator.canViewUsers) {
        throw new HttpError(403, 'Counting users by an ID or an address needs "can_view_users"');
      }
      // One user is the subject, which goes when they are erased; other texts would stay.
      const [[member, operand] = []] = persons;
      const isOne = persons.length === 1 && member === 'external_id' && typeof operand === 'string';
      const members = [...new Set(persons.map(([each]) => each))].join(', ');
      await audit(VIEW_USER, isOne ? operand : '', `counted users by ${members}`);
    }
    const named = campaignsIn(campaign.audience?.filter);
    const sample = await sampleOf(store, workspace.workspaceId, named);
    const reach = await countReach({ sample, workspace, campaign, now: nowMs, isOver });
    if (reach === null) return null;
    return operator.canViewUsers ? { ...reach, fewerThan: null } : rounded(reach);
  };

  return defineRoute({
    method: 'POST',
    path: '/api/reach',
    role: 'view',
    body: bodyOf(campaignBody),
    answer: async (context) => {
      const who = JSON.stringify([context.workspace.workspaceId, context.operator.name]);
      const turn = Symbol(who);
      newest.set(who, turn);
      const isOver = () => newest.get(who) !== turn;
      const overtaken = () => new HttpError(409, 'You have asked for another count since');
      await underWay.get(who);
      if (isOver()) throw overtaken();
      const counting = count(context, isOver);
      underWay.set(
        who,
        counting.catch(() => undefined),
      );
      try {
        const body = await counting;
        if (body === null) throw overtaken();
        return { status: 200, body };
      } finally {
        if (!isOver()) {
          newest.delete(who);
          underWay.delete(who);
        }
      }
    },
  });
};
