import * as z from 'zod';
import {
  HttpError,
  type NewAuditEntry,
  type NewRelease,
  type Release,
  type WithRelease,
} from '../../../service/index.ts';
import { toCampaignJson, variantName } from '../../campaign/campaign-json.ts';
import { isApproved } from '../../campaign/review.ts';
import { getCampaignResults } from '../../results-query.ts';
import { type FrozenTest, rolledOut } from '../ended-test.ts';
import { created, get, post, type ResponseOf, type StudioContext } from '../route.ts';
import { revisionName, validateDraft } from './drafts.ts';

/** Releases per page. Each can have 64 KB. */
const PAGE = 25;

const iso = (ms: number) => new Date(ms).toISOString();

const releaseRow = (release: Release) => ({
  release: release.release,
  campaignId: release.subjectId,
  // `null` if the release archives the campaign or is of a segment.
  campaign: release.kind === 'campaign' ? toCampaignJson(release.content) : null,
  segment: release.kind === 'segment' ? release.content : null,
  basedOn: release.basedOn,
  author: release.author,
  note: release.note,
  at: iso(release.createdAtMs),
  liveAt: iso(release.liveAtMs),
  cancelledAt: release.cancelledAtMs === null ? null : iso(release.cancelledAtMs),
});
export type ReleaseRow = ReturnType<typeof releaseRow>;

export const listReleases = get('/api/releases', 'view', async ({ studio, workspace, query }) => {
  const before = Number(query.get('before') ?? Number.NaN);
  const campaignId = query.get('campaign');
  const segmentId = query.get('segment');
  const releases = await studio.releases(workspace.workspaceId, {
    limit: PAGE,
    ...(Number.isSafeInteger(before) && { before }),
    ...(segmentId && { subject: { kind: 'segment', subjectId: segmentId } }),
    ...(campaignId && { subject: { kind: 'campaign', subjectId: campaignId } }),
  });
  return {
    releases: releases.map(releaseRow),
    // Cursor of the next page; `null` at the end.
    before: releases.length === PAGE ? releases.at(-1)!.release : null,
  };
});
export type ReleasesResponse = ResponseOf<typeof listReleases>;

export interface PublishResponse {
  release: number;
  liveAt: string;
}

/** Throws a 403 if campaigns are managed in the workspace file. */
export const rejectFileMode = ({ workspace }: StudioContext) => {
  if (workspace.campaignsFrom === 'studio') return;
  throw new HttpError(
    403,
    'Campaigns are managed in the workspace file: copy the change into it, or set "campaigns_from" to "studio"',
  );
};

const rejectErrors = async (campaign: unknown, context: StudioContext) => {
  const errors = (await validateDraft(campaign, context)).filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (!first) return;
  throw new HttpError(422, `Cannot publish: ${first.words}`, {
    members: { checks: errors },
  });
};

interface AddOptions
  extends Pick<NewRelease, 'subjectId' | 'content' | 'basedOn' | 'note'>,
    Pick<WithRelease, 'draftRevision' | 'cancelsScheduled' | 'endedTest'> {
  /** Default: a campaign. */
  kind?: NewRelease['kind'];
  /** Default: now. */
  liveAtMs?: number;
  /** Action of the audit entry. */
  action: string;
  details(release: number): string;
}

/** Adds a release with its audit entry. Throws a 409 with the current release if it is newer than the base release. */
export const addRelease = async (
  context: StudioContext,
  { action, details, ...made }: AddOptions,
): Promise<PublishResponse> => {
  const { studio, workspace, operator, nowMs } = context;
  const { workspaceId } = workspace;
  const { kind = 'campaign', subjectId, liveAtMs = nowMs } = made;
  const author = operator.name;
  const entry = { workspaceId, atMs: nowMs, operator: author, action, subject: subjectId };
  const release = await studio.addRelease(
    { ...made, kind, liveAtMs, workspaceId, author, createdAtMs: nowMs },
    { ...made, audit: (number) => ({ ...entry, details: details(number) }) },
  );
  if (release === null) {
    const [theirs] = await studio.releases(workspaceId, { subject: { kind, subjectId }, limit: 1 });
    throw new HttpError(409, `A newer release of this ${kind} was published`, {
      members: { theirs: theirs ? releaseRow(theirs) : null },
    });
  }
  await context.refresh();
  return { release, liveAt: iso(liveAtMs) };
};

const findScheduledReleases = async ({ studio, workspace, nowMs }: StudioContext, campaignId: string) =>
  (await studio.scheduledReleases(workspace.workspaceId, nowMs)).filter(
    ({ kind, subjectId }) => kind === 'campaign' && subjectId === campaignId,
  );

/** Returns whether to cancel scheduled releases. Throws an error if there are any and the operator has not chosen. */
const cancelsScheduled = async (
  context: StudioContext,
  campaignId: string,
  chosen: 'keep' | 'cancel' | undefined,
): Promise<boolean> => {
  if (chosen !== undefined) return chosen === 'cancel';
  const [next] = await findScheduledReleases(context, campaignId);
  if (!next) return false;
  throw new HttpError(
    409,
    `Release ${next.release} is scheduled for ${iso(next.liveAtMs)}: choose whether to keep or cancel it`,
  );
};

const MAX_NOTE_CHARACTERS = 2_000;

const note = z.string().max(MAX_NOTE_CHARACTERS);
const liveAtText = z.iso.datetime({ offset: true });
const scheduled = z.enum(['keep', 'cancel']).optional();
const publishBody = z.strictObject({
  campaign_id: z.string().min(1),
  /** Revision of the draft that the operator has seen. */
  revision: z.string().min(1),
  note,
  live_at: liveAtText.nullish(),
  /** Choice to keep or cancel scheduled releases of the campaign. Required if there are any. */
  scheduled,
});
/** Body of a release without a draft. */
export const noteBody = z.strictObject({ note, based_on: z.int().nonnegative() });
const restoreBody = noteBody.extend({ scheduled });
const endTestBody = restoreBody.extend({
  /** ID of the variant that all users get. */
  winner: z.string().min(1),
  keep_control_group: z.boolean(),
});

/** Returns the time when a release goes live. Throws a 400 if it is in the past. */
const futureMs = (liveAt: string, nowMs: number): number => {
  const liveAtMs = Date.parse(liveAt);
  if (liveAtMs >= nowMs) return liveAtMs;
  throw new HttpError(400, `live_at: ${liveAt} is in the past. Choose a later time, or publish now.`);
};

/** Returns the release of the path. Throws a 404 if it does not exist or is not of a campaign. */
const releaseIn = async ({ studio, workspace, params }: StudioContext): Promise<Release> => {
  const found = await studio.release(workspace.workspaceId, Number(params['release']));
  if (found?.kind !== 'campaign') throw new HttpError(404, 'Release not found');
  return found;
};

/** Creates the audit entry of a change to a scheduled release. */
const scheduleEntry = (
  { workspace, operator, nowMs }: StudioContext,
  { release, subjectId, liveAtMs }: Release,
  action: string,
  rest = '',
): NewAuditEntry => ({
  workspaceId: workspace.workspaceId,
  atMs: nowMs,
  operator: operator.name,
  action,
  subject: subjectId,
  details: `release ${release}, scheduled for ${iso(liveAtMs)}${rest}`,
});

const notScheduled = ({ release }: Release) => new HttpError(409, `Release ${release} is live or canceled`);

export const publish = post('/api/releases', 'publish', publishBody, async (context) => {
  rejectFileMode(context);
  const { campaign_id: campaignId, revision, note, live_at: liveAt } = context.body;
  const { studio, workspace, operator, nowMs } = context;
  const draft = await studio.draft(workspace.workspaceId, campaignId);
  if (draft?.revision !== revision) {
    throw new HttpError(412, 'Draft was changed elsewhere. Review it before you publish');
  }
  if (workspace.studio.requireApproval && draft.editor === operator.name && !isApproved(draft)) {
    throw new HttpError(403, 'Another operator must publish your changes');
  }
  await rejectErrors(draft.campaign, context);
  const liveAtMs = liveAt ? futureMs(liveAt, nowMs) : nowMs;
  const { campaign: content, basedOn } = draft;
  const later = liveAtMs > nowMs ? `, live at ${iso(liveAtMs)}` : '';
  const release = await addRelease(context, {
    subjectId: campaignId,
    content,
    basedOn,
    note,
    liveAtMs,
    draftRevision: revision,
    cancelsScheduled: await cancelsScheduled(context, campaignId, context.body.scheduled),
    action: 'campaign.publish',
    details: (release) => `release ${release}${later}`,
  });
  return created(release);
});

export const rollBack = post('/api/releases/{release}/restore', 'publish', restoreBody, async (context) => {
  rejectFileMode(context);
  const former = await releaseIn(context);
  const { subjectId, content } = former;
  if (content !== null) await rejectErrors(content, context);
  const { note, based_on: basedOn, scheduled } = context.body;
  const release = await addRelease(context, {
    subjectId,
    content,
    basedOn,
    note,
    cancelsScheduled: await cancelsScheduled(context, subjectId, scheduled),
    action: 'campaign.rollback',
    details: (release) => `to release ${former.release}, as release ${release}`,
  });
  return created(release);
});

/** Cancels a scheduled release. If the campaign was never live, its content stays as a draft. */
export const cancelScheduled = post('/api/releases/{release}/cancel', 'publish', async (context) => {
  rejectFileMode(context);
  const { studio, workspace, operator, nowMs } = context;
  const { workspaceId } = workspace;
  const found = await releaseIn(context);
  const { release, subjectId: campaignId, content } = found;
  const isLive = workspace.rawCampaigns.some((each) => each['campaign_id'] === campaignId);
  const isLast = (await findScheduledReleases(context, campaignId)).every((each) => each.release === release);
  const isCancelled = await studio.cancelRelease(found, {
    nowMs,
    draft:
      isLive || !isLast || content === null
        ? null
        : {
            workspaceId,
            campaignId,
            campaign: content,
            revision: revisionName(),
            basedOn: release,
            editor: operator.name,
            updatedAtMs: nowMs,
          },
    audit: scheduleEntry(context, found, 'release.cancel'),
  });
  if (!isCancelled) throw notScheduled(found);
  return {};
});

/** Reschedules a scheduled release. */
export const moveScheduled = post(
  '/api/releases/{release}/move',
  'publish',
  z.strictObject({ live_at: liveAtText }),
  async (context) => {
    rejectFileMode(context);
    const { studio, body, nowMs } = context;
    const found = await releaseIn(context);
    const liveAtMs = futureMs(body.live_at, nowMs);
    const audit = scheduleEntry(context, found, 'release.move', `, to ${iso(liveAtMs)}`);
    if (!(await studio.moveRelease({ ...found, liveAtMs }, { nowMs, audit }))) throw notScheduled(found);
    await context.refresh();
    return { release: found.release, liveAt: iso(liveAtMs) };
  },
);

/** Returns the live campaign of the path. */
const campaignIn = ({ workspace, params }: StudioContext) => {
  const text = workspace.rawCampaigns.find((each) => each['campaign_id'] === params['campaignId']);
  if (!text) throw new HttpError(404, 'Campaign not found');
  return { campaignId: params['campaignId']!, text };
};

/** Stops a campaign immediately and cancels scheduled releases. The draft stays. */
export const stop = post('/api/campaigns/{campaignId}/stop', 'publish', noteBody, async (context) => {
  rejectFileMode(context);
  const { campaignId, text } = campaignIn(context);
  const { note, based_on: basedOn } = context.body;
  const release = await addRelease(context, {
    subjectId: campaignId,
    content: { ...text, status: 'stopped' },
    basedOn,
    note,
    cancelsScheduled: true,
    action: 'campaign.stop',
    details: (release) => `as release ${release}`,
  });
  return created(release);
});

/** Ends an A/B test. All users get one variant, and the results are frozen. */
export const endTest = post(
  '/api/campaigns/{campaignId}/end-test',
  'publish',
  endTestBody,
  async (context) => {
    rejectFileMode(context);
    const { workspace, store } = context;
    const { campaignId, text } = campaignIn(context);
    const { note, based_on: basedOn, winner, keep_control_group: keepsControl, scheduled } = context.body;
    const campaign = toCampaignJson(text)!;
    const named = campaign.variants.find(({ variant_id }) => variant_id === winner);
    if (!named) throw new HttpError(404, `The campaign has no variant '${winner}'`);
    const counts = await getCampaignResults(store, workspace, campaign);
    const release = await addRelease(context, {
      subjectId: campaignId,
      content: rolledOut(campaign, winner, keepsControl),
      basedOn,
      note,
      cancelsScheduled: await cancelsScheduled(context, campaignId, scheduled),
      endedTest: { campaign, counts } satisfies FrozenTest,
      action: 'campaign.end_test',
      details: (release) => `${variantName(named)} rolled out as release ${release}`,
    });
    return created(release);
  },
);

/** Archives a campaign with a release without content. Results and history stay. A previous release can restore it. */
export const archive = post('/api/campaigns/{campaignId}/archive', 'publish', noteBody, async (context) => {
  rejectFileMode(context);
  const { studio, workspace } = context;
  const { campaignId, text } = campaignIn(context);
  if (await studio.draft(workspace.workspaceId, campaignId)) {
    throw new HttpError(409, 'Publish or discard the draft first');
  }
  const { note, based_on: basedOn } = context.body;
  const add = (content: unknown, from: number) =>
    addRelease(context, {
      subjectId: campaignId,
      content,
      basedOn: from,
      note,
      cancelsScheduled: true,
      action: 'campaign.archive',
      details: (release) => `as release ${release}`,
    });
  // Releases a campaign of the workspace file first, so that the history keeps its content.
  const from = basedOn > 0 ? basedOn : (await add({ ...text, status: 'stopped' }, basedOn)).release;
  return created(await add(null, from));
});
