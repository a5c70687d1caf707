import * as z from 'zod';
import type { SavedDraft } from '../studio/index.ts';
import { StudioError } from '../studio-client/index.ts';
import { campaignId, campaignObject, currentCampaign, readRow } from './read-tools.ts';
import { campaignPage, defineTool, type Tool, type ToolContext } from './tool.ts';

const dryRun = z.boolean().optional().describe('Only return the checks; store nothing');
const note = z.string().max(2_000).describe('Reason of the change, for the history');
const revision = z
  .string()
  .min(1)
  .describe('draft.revision of get_campaign, so that no newer change is lost');

const check = ({ studio }: ToolContext, campaign: unknown) =>
  studio.request<{ checks: unknown[] }>('/api/validation', { method: 'POST', body: { campaign } });

interface Draft {
  campaign: { campaign_id: string };
  basedOn: number;
  ifMatch: string | null;
}

const save = async ({ campaign, basedOn, ifMatch }: Draft, context: ToolContext) => {
  const id = campaign.campaign_id;
  const { revision, checks } = await context.studio.request<SavedDraft>(
    `/api/drafts/${encodeURIComponent(id)}`,
    { method: 'PUT', body: { campaign, based_on: basedOn }, ifMatch },
  );
  return { campaign_id: id, revision, checks };
};

const rowExists = async (id: string, context: ToolContext): Promise<boolean> => {
  try {
    await context.studio.request(`/api/campaigns/${encodeURIComponent(id)}`);
    return true;
  } catch (error) {
    if (error instanceof StudioError && error.status === 404) return false;
    throw error;
  }
};

const createDraft = defineTool({
  name: 'create_draft',
  title: 'Create a draft',
  description: 'Stores a new campaign as a draft and returns its checks. Users see nothing of a draft.',
  role: 'edit',
  createInput: () => z.strictObject({ campaign: campaignObject, dry_run: dryRun }),
  getSubject: ({ campaign }) => campaign.campaign_id,
  getPage: ({ campaign, dry_run }) => campaignPage(dry_run ? undefined : campaign.campaign_id),
  async run({ campaign, dry_run }, context) {
    const id = campaign.campaign_id;
    if (await rowExists(id, context)) {
      throw new Error(
        `campaign_id: there is a campaign ${JSON.stringify(id)}; choose another ID, or call update_draft`,
      );
    }
    if (dry_run) return { ...(await check(context, campaign)) };
    return save({ campaign, basedOn: 0, ifMatch: null }, context);
  },
});

const updateDraft = defineTool({
  name: 'update_draft',
  title: 'Update a draft',
  description:
    'Replaces the draft of a campaign, or starts one from what is published. Send the whole campaign: get it with get_campaign, change it, send it back. Keep the variant_id of variants that users have seen.',
  role: 'edit',
  createInput: () =>
    z.strictObject({
      campaign: campaignObject,
      revision: revision.nullable().describe('draft.revision of get_campaign; null if there is no draft'),
      dry_run: dryRun,
    }),
  getSubject: ({ campaign }) => campaign.campaign_id,
  getPage: ({ campaign }) => campaignPage(campaign.campaign_id),
  async run({ campaign, revision, dry_run }, context) {
    const row = await readRow(campaign.campaign_id, context);
    if (dry_run) return { ...(await check(context, campaign)) };
    return save({ campaign, basedOn: row.draft?.basedOn ?? row.newest, ifMatch: revision }, context);
  },
});

const createPreviewLink = defineTool({
  name: 'create_preview_link',
  title: 'Create a preview link',
  description:
    'Returns a link that shows a draft on a page of the site for 30 minutes. Give it to the person who reviews the draft.',
  role: 'edit',
  createInput: () =>
    z.strictObject({
      campaign_id: campaignId,
      revision,
      variant_id: z.string().min(1),
      page: z.url().describe('Page of one of the sites of get_workspace'),
      persona: z.string().nullable().optional(),
      language: z.string().max(35).optional(),
    }),
  getSubject: ({ campaign_id }) => campaign_id,
  getPage: ({ campaign_id }) => campaignPage(campaign_id),
  run: ({ persona = null, ...link }, { studio }) =>
    studio.request<Record<string, unknown>>('/api/preview-links', {
      method: 'POST',
      body: { ...link, persona },
    }),
});

const publishCampaign = defineTool({
  name: 'publish_campaign',
  title: 'Publish a campaign',
  description:
    'Publishes a draft: users see it at once, or at live_at. Call it only if the person who asked has approved this very draft.',
  role: 'publish',
  createInput: () =>
    z.strictObject({
      campaign_id: campaignId,
      revision,
      note,
      live_at: z.iso.datetime({ offset: true }).optional().describe('Default now'),
      scheduled: z
        .enum(['keep', 'cancel'])
        .optional()
        .describe('Whether scheduled releases of the campaign stay; required if there are any'),
      dry_run: dryRun,
    }),
  getSubject: ({ campaign_id }) => campaign_id,
  getPage: ({ campaign_id }) => campaignPage(campaign_id),
  async run({ dry_run, ...release }, context) {
    const { campaign_id } = release;
    if (dry_run) {
      const campaign = currentCampaign(await readRow(campaign_id, context));
      const effect = await context.studio.request('/api/publish-impact', {
        method: 'POST',
        body: { campaign },
      });
      return { ...(await check(context, campaign)), effect };
    }
    return context.studio.request<Record<string, unknown>>('/api/releases', {
      method: 'POST',
      body: release,
    });
  },
});

const stopCampaign = defineTool({
  name: 'stop_campaign',
  title: 'Stop a campaign',
  description:
    'Stops a published campaign at once and cancels its scheduled releases. Its draft, results and history stay.',
  role: 'publish',
  createInput: () => z.strictObject({ campaign_id: campaignId, note }),
  getSubject: ({ campaign_id }) => campaign_id,
  getPage: ({ campaign_id }) => campaignPage(campaign_id),
  async run({ campaign_id, note }, context) {
    const { newest } = await readRow(campaign_id, context);
    return context.studio.request<Record<string, unknown>>(
      `/api/campaigns/${encodeURIComponent(campaign_id)}/stop`,
      { method: 'POST', body: { note, based_on: newest } },
    );
  },
});

/** Tools that store drafts, or change what users see. */
export const writeTools: readonly Tool[] = [
  createDraft,
  updateDraft,
  createPreviewLink,
  publishCampaign,
  stopCampaign,
];
