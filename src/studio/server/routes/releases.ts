import * as z from 'zod';
import {
  createRevision,
  HttpError,
  type NewRelease,
  type Release,
  STOP_CONDITIONS,
  type WithRelease,
} from '../../../service/index.ts';
import { toCampaignJson, variantName } from '../../campaign/campaign-json.ts';
import { isApproved } from '../../campaign/review.ts';
import { canFallBelowControl } from '../../campaign/shares.ts';
import { getCampaignResults } from '../../results-query.ts';
import { type EndedTestSnapshot, rolledOut } from '../ended-test.ts';
import { created, get, iso, post, type ResponseOf, type StudioContext } from '../route.ts';
import { validateDraft } from './drafts.ts';

/** Releases per page. Each can have 64 KB. */
const PAGE = 25;

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

/** Creates the handler of a change. Throws a 403 if campaigns are managed in the workspace file. */
export const whenManaged =
  <Body, Answer>(change: (context: StudioContext<Body>) => Promise<Answer>) =>
  (context: StudioContext<Body>): Promise<Answer> => {
    if (context.workspace.campaignsFrom === 'studio') return change(context);
    throw new HttpError(
      403,
      'Campaigns are managed in the workspace file: copy the change into it, or set "campaigns_from" to "studio"',
    );
  };

const rejectErrors = async (campaign: unknown, context: StudioContext) => {
  const errors = (await validateDraft(campaign, context)).filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (!first) return;
  throw new HttpError(422, `Cannot publish: ${first.message}`, {
    members: { checks: errors },
  });
};

interface ReleaseBody {
  note: string;
  based_on?: number;
}

interface AddOptions
  extends Pick<NewRelease, 'subjectId' | 'content'>,
    Pick<WithRelease, 'draftRevision' | 'cancelsScheduled' | 'endedTest' | 'stopIf'> {
  /** Default: a campaign. */
  kind?: NewRelease['kind'];
  /** Default: now. */
  liveAtMs?: number;
  /** Release that the operator has seen. Default: `based_on` of the body. */
  basedOn?: number;
  /** Action of the audit entry. */
  action: string;
  /** Details of the audit entry. Default: the number of the release. */
  details?(release: number): string;
}

/**
 * Adds a release with the note of the body and its audit entry. Throws a 409 with the current release if it is newer than the base
 * release.
 */
const addRelease = async (
  { body, studio, workspace, operator, nowMs, auditEntry, refresh }: StudioContext<ReleaseBody>,
  { action, details = (release) => `as release ${release}`, ...made }: AddOptions,
): Promise<{ release: number; liveAt: string }> => {
  const { workspaceId } = workspace;
  const { kind = 'campaign', subjectId, liveAtMs = nowMs, basedOn = body.based_on ?? 0 } = made;
  const { note } = body;
  const release = await studio.addRelease(
    { ...made, kind, liveAtMs, basedOn, note, workspaceId, author: operator.name, createdAtMs: nowMs },
    { ...made, audit: (number) => auditEntry(action, subjectId, details(number)) },
  );
  if (release === null) {
    const [theirs] = await studio.releases(workspaceId, { subject: { kind, subjectId }, limit: 1 });
    throw new HttpError(409, `A newer release of this ${kind} was published`, {
      members: { theirs: theirs ? releaseRow(theirs) : null },
    });
  }
  await refresh();
  return { release, liveAt: iso(liveAtMs) };
};

/** Adds a release and returns it with the status 201. */
export const createRelease = async (context: StudioContext<ReleaseBody>, options: AddOptions) =>
  created(await addRelease(context, options));

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
  /** Condition that, before `live_at`, stops the campaign and cancels the release. */
  stop_if: z.enum(STOP_CONDITIONS).nullish(),
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

const describeScheduled = ({ release, liveAtMs }: Release) =>
  `release ${release}, scheduled for ${iso(liveAtMs)}`;

const notScheduled = ({ release }: Release) => new HttpError(409, `Release ${release} is live or canceled`);

const publishDraft = async (context: StudioContext<z.output<typeof publishBody>>) => {
  const { campaign_id: campaignId, revision, live_at: liveAt, stop_if: stopIf, scheduled } = context.body;
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
  const live = workspace.rawCampaigns.find((each) => each['campaign_id'] === campaignId);
  if (stopIf && (liveAtMs === nowMs || !canFallBelowControl(toCampaignJson(live)))) {
    throw new HttpError(
      400,
      'stop_if: requires a scheduled release, and a live campaign with a goal and a control group',
    );
  }
  const later = liveAtMs > nowMs ? `, live at ${iso(liveAtMs)}` : '';
  return createRelease(context, {
    subjectId: campaignId,
    content: draft.campaign,
    basedOn: draft.basedOn,
    liveAtMs,
    draftRevision: revision,
    stopIf: stopIf ?? null,
    cancelsScheduled: await cancelsScheduled(context, campaignId, scheduled),
    action: 'campaign.publish',
    details: (release) => `release ${release}${later}`,
  });
};
export const publish = post('/api/releases', 'publish', publishBody, whenManaged(publishDraft));
export type PublishResponse = ResponseOf<typeof publish>;

export const rollBack = post(
  '/api/releases/{release}/restore',
  'publish',
  restoreBody,
  whenManaged(async (context) => {
    const former = await releaseIn(context);
    const { subjectId, content } = former;
    if (content !== null) await rejectErrors(content, context);
    return createRelease(context, {
      subjectId,
      content,
      cancelsScheduled: await cancelsScheduled(context, subjectId, context.body.scheduled),
      action: 'campaign.rollback',
      details: (release) => `to release ${former.release}, as release ${release}`,
    });
  }),
);

/** Cancels a scheduled release. If the campaign was never live, its content stays as a draft. */
export const cancelScheduled = post(
  '/api/releases/{release}/cancel',
  'publish',
  whenManaged(async (context) => {
    const { studio, workspace, operator, nowMs, auditEntry } = context;
    const { workspaceId } = workspace;
    const found = await releaseIn(context);
    const { release, subjectId: campaignId, content } = found;
    const isLive = workspace.rawCampaigns.some((each) => each['campaign_id'] === campaignId);
    const scheduled = await findScheduledReleases(context, campaignId);
    const isLast = scheduled.every((each) => each.release === release);
    const isCancelled = await studio.cancelRelease(found, {
      nowMs,
      draft:
        isLive || !isLast || content === null
          ? null
          : {
              workspaceId,
              campaignId,
              campaign: content,
              revision: createRevision(),
              basedOn: release,
              editor: operator.name,
              updatedAtMs: nowMs,
            },
      audit: auditEntry('release.cancel', campaignId, describeScheduled(found)),
    });
    if (!isCancelled) throw notScheduled(found);
    return {};
  }),
);

/** Reschedules a scheduled release. */
export const moveScheduled = post(
  '/api/releases/{release}/move',
  'publish',
  z.strictObject({ live_at: liveAtText }),
  whenManaged(async (context) => {
    const { studio, body, nowMs, auditEntry } = context;
    const found = await releaseIn(context);
    const liveAtMs = futureMs(body.live_at, nowMs);
    const details = `${describeScheduled(found)}, to ${iso(liveAtMs)}`;
    const audit = auditEntry('release.move', found.subjectId, details);
    if (!(await studio.moveRelease({ ...found, liveAtMs }, { nowMs, audit }))) throw notScheduled(found);
    await context.refresh();
    return { release: found.release, liveAt: iso(liveAtMs) };
  }),
);

/** Returns the live campaign of the path. */
const campaignIn = ({ workspace, params }: StudioContext) => {
  const text = workspace.rawCampaigns.find((each) => each['campaign_id'] === params['campaignId']);
  if (!text) throw new HttpError(404, 'Campaign not found');
  return { subjectId: params['campaignId']!, text };
};

/** Stops a campaign immediately and cancels scheduled releases. The draft stays. */
export const stop = post(
  '/api/campaigns/{campaignId}/stop',
  'publish',
  noteBody,
  whenManaged(async (context) => {
    const { subjectId, text } = campaignIn(context);
    const content = { ...text, status: 'stopped' };
    return createRelease(context, { subjectId, content, cancelsScheduled: true, action: 'campaign.stop' });
  }),
);

/** Ends an A/B test. All users get one variant, and the results are frozen. */
export const endTest = post(
  '/api/campaigns/{campaignId}/end-test',
  'publish',
  endTestBody,
  whenManaged(async (context) => {
    const { subjectId, text } = campaignIn(context);
    const { winner, keep_control_group: keepsControl, scheduled } = context.body;
    const campaign = toCampaignJson(text)!;
    const named = campaign.variants.find(({ variant_id }) => variant_id === winner);
    if (!named) throw new HttpError(404, `The campaign has no variant '${winner}'`);
    const { isCaughtUp, ...counts } = await getCampaignResults(context.store, context.workspace, campaign);
    if (!isCaughtUp)
      throw new HttpError(503, 'Results do not include all stored events yet. Try again in a minute');
    const endedTest: EndedTestSnapshot = { campaign, counts };
    return createRelease(context, {
      subjectId,
      content: rolledOut(campaign, winner, keepsControl),
      cancelsScheduled: await cancelsScheduled(context, subjectId, scheduled),
      endedTest,
      action: 'campaign.end_test',
      details: (release) => `${variantName(named)} rolled out as release ${release}`,
    });
  }),
);

/** Archives a campaign with a release without content. Results and history stay. A previous release can restore it. */
export const archive = post(
  '/api/campaigns/{campaignId}/archive',
  'publish',
  noteBody,
  whenManaged(async (context) => {
    const { subjectId, text } = campaignIn(context);
    if (await context.studio.draft(context.workspace.workspaceId, subjectId)) {
      throw new HttpError(409, 'Publish or discard the draft first');
    }
    const options = { subjectId, cancelsScheduled: true };
    let { based_on: basedOn } = context.body;
    if (basedOn === 0) {
      // Releases a campaign of the workspace file first, so that the history keeps its content.
      const content = { ...text, status: 'stopped' };
      basedOn = (await addRelease(context, { ...options, content, action: 'campaign.stop' })).release;
    }
    return createRelease(context, { ...options, content: null, basedOn, action: 'campaign.archive' });
  }),
);
