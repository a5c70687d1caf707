import * as z from 'zod';
import {
  countReach,
  cpuTimeMs,
  findCampaignIds,
  findPersonalIdentifiers,
  findSegmentIds,
  HttpError,
  readCampaign,
  type Segment,
  segmentProblems,
} from '../../../service/index.ts';
import { getCampaignName } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { describeIssue } from '../describe-issue.ts';
import { get, post, put, type StudioContext } from '../route.ts';
import { campaignRows } from './campaigns.ts';
import { type ReachResponse, type SampleLoader, toReachResponse } from './publish-impact.ts';
import { createRelease, noteBody, whenManaged } from './releases.ts';

export interface SegmentRow {
  id: string;
  name: string;
  audience: Record<string, unknown>;
  /** Number of the newest release, on which the next must be based; 0 if the segment is from the workspace file. */
  newest: number;
  /**
   * Estimated number of users. `needs_permission` if the filter contains IDs or addresses and so requires the permission to view
   * users. `left out` if the time budget of the list was exhausted.
   */
  reach: ReachResponse | 'needs_permission' | 'not_counted';
  /** Published campaigns and drafts that use the segment. */
  usedBy: { id: string; name: string; isLive: boolean }[];
}

/** Returns the campaigns that use each segment. */
const getSegmentUses = async (context: StudioContext): Promise<Map<string, SegmentRow['usedBy']>> => {
  const uses = new Map<string, SegmentRow['usedBy']>();
  for (const row of await campaignRows(context)) {
    const { id, published, draft, scheduled, isArchived } = row;
    if (isArchived) continue;
    const live = findSegmentIds(published?.campaign.audience);
    const isActive = published?.campaign.status === 'active';
    const written = [draft, ...scheduled].flatMap((each) => findSegmentIds(each?.campaign.audience));
    for (const segment of new Set([...live, ...written])) {
      const name = getCampaignName(currentCampaign(row));
      const use = { id, name, isLive: isActive && live.includes(segment) };
      uses.set(segment, [...(uses.get(segment) ?? []), use]);
    }
  }
  return uses;
};

/**
 * Time budget for all counts of the list. More segments mean smaller samples. Once the budget is exhausted, further segments are
 * not counted, because one user of the largest audience takes some milliseconds.
 */
const LIST_MS = 20;

const getSegmentReach = async (
  { filter }: Segment,
  { workspace, operator, nowMs: now }: StudioContext,
  sample: Awaited<ReturnType<SampleLoader>>,
): Promise<SegmentRow['reach']> => {
  if (findPersonalIdentifiers(filter).length > 0 && !operator.canViewUsers) return 'needs_permission';
  const variants = [{ variant_id: 'a', properties: {} }];
  const content = { campaign_id: 'segment', status: 'active', placements: [], audience: filter, variants };
  const { campaign } = readCampaign(content, {});
  const reach =
    campaign &&
    (await countReach({ sample, workspace, campaign, now, maxMs: LIST_MS / workspace.segments.size }));
  return reach ? toReachResponse(reach, operator) : 'not_counted';
};

/** Returns all segments with their filters, estimated sizes and the campaigns that use them. */
export const createListSegments = (loadSample: SampleLoader) =>
  get('/api/segments', 'view', async (context) => {
    const { workspace, store, studio } = context;
    const uses = await getSegmentUses(context);
    const newest = await studio.newestReleases(workspace.workspaceId, 'segment');
    const all = [...workspace.segments.values()];
    const named = findCampaignIds(all.map(({ filter }) => filter));
    const sample = await loadSample(store, workspace.workspaceId, named);
    const segments: SegmentRow[] = [];
    const startedMs = cpuTimeMs();
    for (const segment of all) {
      const { segmentId: id, name, filter: audience } = segment;
      segments.push({
        id,
        name,
        audience,
        newest: newest.get(id) ?? 0,
        reach:
          cpuTimeMs() - startedMs < LIST_MS ? await getSegmentReach(segment, context, sample) : 'not_counted',
        usedBy: uses.get(id) ?? [],
      });
    }
    return { segments };
  });

/** Reach of a live campaign before and after a change of a segment. */
export interface SegmentImpact {
  id: string;
  name: string;
  /** Reach before and after; `null` if the audience contains IDs or addresses of users. */
  reach: { before: ReachResponse; after: ReachResponse } | null;
  /** Whether the change leaves the campaign with no users or too few to report. */
  isSilenced: boolean;
}

/** Returns the live campaigns that use a segment, with their reach before and after a change of the segment. */
export const createReadSegmentImpact = (loadSample: SampleLoader) =>
  post(
    '/api/segments/{segmentId}/impact',
    'view',
    z.strictObject({ audience: z.record(z.string(), z.unknown()) }),
    async ({ workspace, store, operator, params, body, nowMs: now }) => {
      const segmentId = params['segmentId']!;
      const [problem] = segmentProblems(body.audience);
      if (problem) throw new HttpError(422, describeIssue(problem));
      const changed = { segmentId, name: segmentId, filter: body.audience };
      const segments = new Map(workspace.segments).set(segmentId, changed);
      const uses = workspace.rawCampaigns.flatMap((raw) => {
        if (!findSegmentIds(raw['audience']).includes(segmentId)) return [];
        const before = workspace.campaigns.find(({ campaignId }) => campaignId === raw['campaign_id']);
        const { campaign: after } = readCampaign(raw, { segments });
        return before?.status === 'active' && after ? [{ before, after }] : [];
      });
      const named = findCampaignIds(
        uses.flatMap(({ before, after }) => [before.audience?.filter, after.audience?.filter]),
      );
      const sample = await loadSample(store, workspace.workspaceId, named);
      const maxMs = LIST_MS / (2 * uses.length);
      const campaigns: SegmentImpact[] = [];
      for (const { before, after } of uses) {
        const isPersonal = [before, after].some(
          (each) => findPersonalIdentifiers(each.audience?.filter ?? {}).length > 0,
        );
        const [was, is] = isPersonal
          ? []
          : [
              await countReach({ sample, workspace, campaign: before, now, maxMs }),
              await countReach({ sample, workspace, campaign: after, now, maxMs }),
            ];
        const reach =
          was && is ? { before: toReachResponse(was, operator), after: toReachResponse(is, operator) } : null;
        campaigns.push({
          id: before.campaignId,
          name: before.name,
          reach,
          isSilenced: reach !== null && reach.before.users > 0 && reach.after.users === 0,
        });
      }
      return { campaigns };
    },
  );

const segmentBody = noteBody.extend({
  name: z.string().trim().min(1).max(200),
  audience: z.record(z.string(), z.unknown()),
});

/** Creates or updates a segment, which immediately affects campaigns that use it. */
export const saveSegment = put(
  '/api/segments/{segmentId}',
  'publish',
  segmentBody,
  whenManaged(async (context) => {
    const { name, audience } = context.body;
    const [problem] = segmentProblems(audience);
    if (problem) throw new HttpError(422, describeIssue(problem));
    return createRelease(context, {
      kind: 'segment',
      subjectId: context.params['segmentId']!,
      content: { name, audience },
      action: 'segment.save',
      details: (release) => `“${name}”, as release ${release}`,
    });
  }),
);

/** Deletes a segment that no campaign uses. */
export const removeSegment = post(
  '/api/segments/{segmentId}/remove',
  'publish',
  noteBody,
  whenManaged(async (context) => {
    const subjectId = context.params['segmentId']!;
    if (!context.workspace.segments.has(subjectId)) throw new HttpError(404, 'Segment not found');
    const uses = (await getSegmentUses(context)).get(subjectId) ?? [];
    if (uses.length > 0) {
      throw new HttpError(409, `In use by: ${uses.map(({ name }) => `“${name}”`).join(', ')}`);
    }
    return createRelease(context, { kind: 'segment', subjectId, content: null, action: 'segment.remove' });
  }),
);
