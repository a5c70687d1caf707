import * as z from 'zod';
import {
  type Campaign,
  countReach,
  findCampaignIds,
  findPersonalIdentifiers,
  HttpError,
  type Operator,
  priorityOrder,
  REACH_SAMPLE,
  type Reach,
  readCampaign,
  type Store,
  VIEW_USER,
  type Workspace,
} from '../../../service/index.ts';
import { post, type StudioContext } from '../route.ts';

const campaignBody = z.strictObject({ campaign: z.looseObject({}) });
type CampaignBody = z.output<typeof campaignBody>;

/** First campaigns in order, and the total. */
export interface NamedCampaigns {
  names: string[];
  count: number;
}
const MAX_NAMES = 100;

/** Effect of publishing a draft, by placement. */
export interface PublishImpact {
  placements: {
    id: string;
    name: string;
    /** Live campaigns with higher priority in the placement. Users in their audiences never get the draft. */
    outrankedBy: NamedCampaigns;
    /** Live campaigns with lower priority in the placement. Users in both audiences get the draft. */
    outranks: NamedCampaigns;
  }[];
}

const isRunning = ({ status, startsAtMs, endsAtMs }: Campaign, nowMs: number) =>
  status === 'active' && (startsAtMs ?? 0) <= nowMs && nowMs < (endsAtMs ?? Number.POSITIVE_INFINITY);

const publishImpact = (content: unknown, workspace: Workspace, nowMs: number): PublishImpact => {
  const { campaign } = readCampaign(content, { segments: workspace.segments, publishedAtMs: nowMs });
  if (!campaign) return { placements: [] };
  const others = workspace.campaigns.filter(({ campaignId }) => campaignId !== campaign.campaignId);
  // The order of evaluation once the draft is published.
  const { campaigns, placements } = priorityOrder({ ...workspace, campaigns: [...others, campaign] });
  const own = campaigns.indexOf(campaign);
  const namesById = new Map(workspace.placements?.map(({ placementId, name }) => [placementId, name]));
  return {
    placements: [...campaign.placements].map((id) => {
      const ranks = placements.get(id)!.all.filter((rank) => isRunning(campaigns[rank]!, nowMs));
      const named = (isIn: (rank: number) => boolean): NamedCampaigns => {
        const found = ranks.filter(isIn);
        return { names: found.slice(0, MAX_NAMES).map((rank) => campaigns[rank]!.name), count: found.length };
      };
      return {
        id,
        name: namesById.get(id) ?? id,
        outrankedBy: named((rank) => rank < own),
        outranks: named((rank) => rank > own),
      };
    }),
  };
};

/** Returns the effect of publishing on users. */
export const readPublishImpact = post(
  '/api/publish-impact',
  'view',
  campaignBody,
  ({ body, workspace, nowMs }) => publishImpact(body.campaign, workspace, nowMs),
);

/** Minimum number of users in a reported count. Smaller counts could reveal single users. */
export const MIN_REPORTED_AUDIENCE = 20;
const STEP = 10;
/** Cache time of a sample, so that typing causes no database reads. */
const SAMPLE_MS = 10_000;

export interface ReachResponse extends Reach {
  /** Minimum reported count if the audience has fewer users, with all counts 0; `null` if the audience is counted. */
  fewerThan: number | null;
}

/**
 * Rounds and hides counts of users for operators who cannot view users. Counts below the minimum become 0. If the complement is below the
 * minimum, the count includes all users, because a filter for all but a few would reveal those few.
 */
const anonymizeReach = ({ users, atLeast, atMost, total, shown }: Reach): ReachResponse => {
  /** Rounds a count down. `to` is the result if all but a few of `all` match. */
  const down = (count: number, all = total, to = all) =>
    Math.floor((all - count < MIN_REPORTED_AUDIENCE ? to : count) / STEP) * STEP;
  const up = (count: number) => Math.min(total, Math.ceil(count / STEP) * STEP);
  if (users < MIN_REPORTED_AUDIENCE) {
    const fewerThan =
      atLeast === atMost ? MIN_REPORTED_AUDIENCE : Math.max(MIN_REPORTED_AUDIENCE, up(atMost));
    return { users: 0, atLeast: 0, atMost: 0, total, shown: 0, fewerThan };
  }
  return {
    users: down(users),
    // Exact counts have no interval.
    atLeast: down(atLeast),
    atMost: atLeast === atMost ? down(atMost) : up(atMost),
    total,
    shown: down(shown, users, total - users < MIN_REPORTED_AUDIENCE ? total : users),
    fewerThan: null,
  };
};

/** Returns a reach with exact counts for operators who can view users, and with rounded counts for others. */
export const toReachResponse = (
  reach: Reach,
  { canViewUsers }: Pick<Operator, 'canViewUsers'>,
): ReachResponse => (canViewUsers ? { ...reach, fewerThan: null } : anonymizeReach(reach));

type Sample = ReturnType<Store['sampleUsers']>;

/** Returns a sample of the workspace's users, cached for some seconds. */
export type SampleLoader = (store: Store, workspaceId: string, campaignIds?: readonly string[]) => Sample;

export const createSamples = (): SampleLoader => {
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
 * Estimates the number of users in the audience of a campaign and the number who would get it. Runs one count per operator, so a
 * newer request cancels an older one. Filters by ID or address require the permission to view users, as in `why`.
 */
export const createReadReach = (loadSample: SampleLoader) => {
  const newest = new Map<string, symbol>();
  const inFlight = new Map<string, Promise<unknown>>();

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
    const persons = findPersonalIdentifiers(campaign.audience?.filter ?? {});
    if (persons.length > 0) {
      if (!operator.canViewUsers) {
        throw new HttpError(403, 'Counting users by an ID or an address needs "can_view_users"');
      }
      // A single user becomes the subject, because erasure clears only the subject.
      const [[member, operand] = []] = persons;
      const isOne = persons.length === 1 && member === 'external_id' && typeof operand === 'string';
      const members = [...new Set(persons.map(([each]) => each))].join(', ');
      await audit(VIEW_USER, isOne ? operand : '', `counted users by ${members}`);
    }
    const named = findCampaignIds(campaign.audience?.filter);
    const sample = await loadSample(store, workspace.workspaceId, named);
    const reach = await countReach({ sample, workspace, campaign, now: nowMs, isOver });
    return reach && toReachResponse(reach, operator);
  };

  return post('/api/reach', 'view', campaignBody, async (context) => {
    const who = JSON.stringify([context.workspace.workspaceId, context.operator.name]);
    const turn = Symbol(who);
    newest.set(who, turn);
    const isOver = () => newest.get(who) !== turn;
    const overtaken = () => new HttpError(409, 'Superseded by a newer count');
    await inFlight.get(who);
    if (isOver()) throw overtaken();
    const counting = count(context, isOver);
    inFlight.set(
      who,
      counting.catch(() => undefined),
    );
    try {
      const reach = await counting;
      if (reach === null) throw overtaken();
      return reach;
    } finally {
      if (!isOver()) {
        newest.delete(who);
        inFlight.delete(who);
      }
    }
  });
};
