import * as z from 'zod';
import { HttpError, type Release } from '../../../service/index.ts';
import { type CampaignText, storedCampaign } from '../../campaign/campaign-text.ts';
import { bodyOf, defineRoute, type StudioContext } from '../route.ts';
import { checksOf } from './drafts.ts';

/** Each may have 64 KB. */
const PAGE = 25;

export interface ReleaseRow {
  release: number;
  campaignId: string;
  campaign: CampaignText | null;
  basedOn: number;
  author: string;
  note: string;
  at: string;
  liveAt: string;
}

export interface ReleasesAnswer {
  /** Newest first. */
  releases: ReleaseRow[];
  /** What to ask for next; `null` at the end. */
  before: number | null;
}

const iso = (ms: number) => new Date(ms).toISOString();

const releaseRow = (release: Release): ReleaseRow => ({
  release: release.release,
  campaignId: release.campaignId,
  campaign: storedCampaign(release.campaign),
  basedOn: release.basedOn,
  author: release.author,
  note: release.note,
  at: iso(release.createdAtMs),
  liveAt: iso(release.liveAtMs),
});

export const listReleases = defineRoute({
  method: 'GET',
  path: '/api/releases',
  role: 'view',
  request: null,
  answer: async ({ studio, workspace, query }) => {
    const before = Number(query.get('before') ?? Number.NaN);
    const campaignId = query.get('campaign');
    const releases = await studio.releases(workspace.workspaceId, {
      limit: PAGE,
      ...(Number.isSafeInteger(before) && { before }),
      ...(campaignId && { campaignId }),
    });
    const body: ReleasesAnswer = {
      releases: releases.map(releaseRow),
      before: releases.length === PAGE ? releases.at(-1)!.release : null,
    };
    return { status: 200, body };
  },
});

export interface PublishedAnswer {
  release: number;
  liveAt: string;
}

/** Where the campaigns are in the workspace file nothing is released. */
export const refuseFileMode = ({ workspace }: StudioContext) => {
  if (workspace.campaignsFrom === 'studio') return;
  throw new HttpError(
    403,
    'The campaigns of this workspace are in its file: copy the change into it, or set "campaigns_from" to "studio" there',
  );
};

const refuseErrors = async (campaign: unknown, context: StudioContext) => {
  const errors = (await checksOf(campaign, context)).filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (!first) return;
  throw new HttpError(422, `This cannot be published as it is: ${first.words}`, {
    members: { checks: errors },
  });
};

/** Adds the release, or refuses with what was published in the meantime. */
export const addRelease = async (
  context: StudioContext,
  made: { campaignId: string; campaign: unknown; basedOn: number; note: string; liveAtMs: number },
): Promise<PublishedAnswer> => {
  const { studio, workspace, operator, nowMs } = context;
  const { workspaceId } = workspace;
  const release = await studio.addRelease({
    ...made,
    workspaceId,
    author: operator.name,
    createdAtMs: nowMs,
  });
  if (release === null) {
    const [theirs] = await studio.releases(workspaceId, { campaignId: made.campaignId, limit: 1 });
    throw new HttpError(409, 'Somebody else has published this campaign since you began', {
      members: { theirs: theirs ? releaseRow(theirs) : null },
    });
  }
  await context.refresh();
  return { release, liveAt: new Date(made.liveAtMs).toISOString() };
};

const MAX_NOTE_CHARACTERS = 2_000;

const note = z.string().max(MAX_NOTE_CHARACTERS);
const publishBody = z.strictObject({
  campaign_id: z.string().min(1),
  /** The draft's revision that its author has seen. */
  revision: z.string().min(1),
  note,
  live_at: z.iso.datetime({ offset: true }).nullish(),
});
/** For a release without a draft: what it follows. */
export const noteBody = z.strictObject({ note, based_on: z.int().nonnegative() });

export const publish = defineRoute({
  method: 'POST',
  path: '/api/releases',
  role: 'publish',
  request: bodyOf(publishBody),
  answer: async (context) => {
    refuseFileMode(context);
    const { campaign_id: campaignId, revision, note: words, live_at: liveAt } = context.body;
    const { studio, workspace, operator, nowMs } = context;
    const draft = await studio.draft(workspace.workspaceId, campaignId);
    if (draft?.revision !== revision) {
      throw new HttpError(
        412,
        'Somebody else has changed this draft: look at it again before you publish it',
      );
    }
    if (workspace.studio.secondOperator && draft.editor === operator.name) {
      throw new HttpError(403, 'You wrote this draft, so somebody else has to publish it');
    }
    await refuseErrors(draft.campaign, context);
    const liveAtMs = liveAt ? Date.parse(liveAt) : nowMs;
    if (liveAtMs < nowMs) {
      throw new HttpError(
        400,
        `live_at: ${liveAt} is over. Choose a time that is still to come, or publish now.`,
      );
    }
    const { campaign, basedOn } = draft;
    const body = await addRelease(context, { campaignId, campaign, basedOn, note: words, liveAtMs });
    const later = liveAtMs > nowMs ? `, live at ${body.liveAt}` : '';
    await context.audit('publish', campaignId, `release ${body.release}${later}`);
    await studio.removeDraft(workspace.workspaceId, campaignId, revision);
    return { status: 201, body };
  },
});

export const rollBack = defineRoute({
  method: 'POST',
  path: '/api/releases/{release}/restore',
  role: 'publish',
  request: bodyOf(noteBody),
  answer: async (context) => {
    refuseFileMode(context);
    const { studio, workspace, params, nowMs } = context;
    const former = await studio.release(workspace.workspaceId, Number(params['release']));
    if (!former) throw new HttpError(404, 'There is no such release');
    if (former.campaign !== null) await refuseErrors(former.campaign, context);
    const { campaignId, campaign } = former;
    const { note: words, based_on: basedOn } = context.body;
    const body = await addRelease(context, { campaignId, campaign, basedOn, note: words, liveAtMs: nowMs });
    await context.audit('roll back', campaignId, `to release ${former.release}, as release ${body.release}`);
    return { status: 201, body };
  },
});

/** The campaign that the path names, and its text as it is on the pages. */
const campaignIn = ({ workspace, params }: StudioContext) => {
  const text = workspace.campaignsAsWritten.find((each) => each['campaign_id'] === params['campaignId']);
  if (!text) throw new HttpError(404, 'There is no such campaign');
  return { campaignId: params['campaignId']!, text };
};

/** Takes a campaign off the pages at once, no matter who wrote it; its draft stays as it is. */
export const stop = defineRoute({
  method: 'POST',
  path: '/api/campaigns/{campaignId}/stop',
  role: 'publish',
  request: bodyOf(noteBody),
  answer: async (context) => {
    refuseFileMode(context);
    const { campaignId, text } = campaignIn(context);
    const { note: words, based_on: basedOn } = context.body;
    const campaign = { ...text, status: 'stopped' };
    const made = { campaignId, campaign, basedOn, note: words, liveAtMs: context.nowMs };
    const body = await addRelease(context, made);
    await context.audit('stop', campaignId, `as release ${body.release}`);
    return { status: 201, body };
  },
});

/** Takes a campaign off the list: a release without a text. Its results and history stay, and a former release brings it back. */
export const archive = defineRoute({
  method: 'POST',
  path: '/api/campaigns/{campaignId}/archive',
  role: 'publish',
  request: bodyOf(noteBody),
  answer: async (context) => {
    refuseFileMode(context);
    const { studio, workspace, nowMs } = context;
    const { campaignId, text } = campaignIn(context);
    if (await studio.draft(workspace.workspaceId, campaignId)) {
      throw new HttpError(409, 'It has a draft: publish or discard that first');
    }
    const { note, based_on: basedOn } = context.body;
    const made = { campaignId, note, liveAtMs: nowMs };
    // Of one that only the file has, the history keeps what it said.
    const from =
      basedOn > 0
        ? basedOn
        : (await addRelease(context, { ...made, campaign: { ...text, status: 'stopped' }, basedOn })).release;
    const body = await addRelease(context, { ...made, campaign: null, basedOn: from });
    await context.audit('archive', campaignId, `as release ${body.release}`);
    return { status: 201, body };
  },
});
