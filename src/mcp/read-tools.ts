import * as z from 'zod';
import type { CampaignStats, CampaignVersions, ResultsResponse, SessionResponse } from '../studio/index.ts';
import { StudioError } from '../studio-client/index.ts';
import { campaignPage, defineTool, type Tool, type ToolContext } from './tool.ts';

const PAGE = 20;
const MAX_NAMED_IDS = 20;

export const campaignId = z.string().min(1).max(200).describe('ID of a campaign, from list_campaigns');
export const campaignObject = z
  .looseObject({ campaign_id: z.string().min(1).max(200) })
  .describe('The whole campaign, as get_schema describes it. Members that are left out are removed.');

const campaignPath = (id: string) => `/api/campaigns/${encodeURIComponent(id)}`;

const readRows = async ({ studio }: ToolContext): Promise<CampaignVersions[]> =>
  (await studio.request<{ campaigns: CampaignVersions[] }>('/api/campaigns')).campaigns;

/** Returns a campaign. Throws an error that lists the existing IDs if not found. */
export const readRow = async (id: string, context: ToolContext): Promise<CampaignVersions> => {
  try {
    return await context.studio.request<CampaignVersions>(campaignPath(id));
  } catch (error) {
    if (!(error instanceof StudioError) || error.status !== 404) throw error;
    const ids = (await readRows(context)).map((row) => JSON.stringify(row.id));
    const more = ids.length > MAX_NAMED_IDS ? ` and ${ids.length - MAX_NAMED_IDS} more` : '';
    const known = ids.length === 0 ? 'there are no campaigns' : ids.slice(0, MAX_NAMED_IDS).join(', ') + more;
    throw new Error(`campaign_id: there is no campaign ${JSON.stringify(id)}; the campaigns are: ${known}`);
  }
};

/** Returns the draft if it exists, otherwise the published version, otherwise the next scheduled version. */
export const currentCampaign = ({ draft, published, scheduled }: CampaignVersions) =>
  draft?.campaign ?? published?.campaign ?? scheduled[0]?.campaign;

const oneCampaign = (purpose: string) =>
  z
    .strictObject({ campaign_id: campaignId.optional(), campaign: campaignObject.optional() })
    .refine(({ campaign_id, campaign }) => (campaign_id === undefined) !== (campaign === undefined), {
      error: `give either campaign_id or campaign ${purpose}`,
    });

const chooseCampaign = async (
  input: { campaign_id?: string | undefined; campaign?: { campaign_id: string } | undefined },
  context: ToolContext,
) => input.campaign ?? currentCampaign(await readRow(input.campaign_id!, context));

const subjectOfChoice = (input: {
  campaign_id?: string | undefined;
  campaign?: { campaign_id: string } | undefined;
}) => input.campaign_id ?? input.campaign!.campaign_id;

const noInput = () => z.strictObject({});
const noSubject = () => '';

const listCampaigns = defineTool({
  name: 'list_campaigns',
  title: 'List campaigns',
  description: `Lists campaigns, ${PAGE} a page: name, status, draft, scheduled releases, users who saw it.`,
  role: 'view',
  createInput: () =>
    z.strictObject({
      search: z.string().max(200).optional().describe('Text in the name or the ID'),
      cursor: z.string().optional().describe('next_cursor of the previous page'),
    }),
  getSubject: noSubject,
  getPage: () => campaignPage(),
  async run({ search = '', cursor }, context) {
    const rows = await readRows(context);
    const { numbers } = await context.studio.request<{ numbers: Record<string, CampaignStats> }>(
      '/api/campaign-stats',
    );
    const matching = rows.filter((row) =>
      `${row.id}\n${currentCampaign(row)?.name ?? ''}`.toLowerCase().includes(search.trim().toLowerCase()),
    );
    const from = cursor === undefined ? 0 : matching.findIndex(({ id }) => id === cursor);
    if (from < 0) throw new Error('cursor: the campaign that this cursor names is gone; start without one');
    return {
      items: matching.slice(from, from + PAGE).map((row) => {
        const campaign = currentCampaign(row);
        return {
          campaign_id: row.id,
          name: campaign?.name ?? null,
          status: row.isArchived ? 'archived' : (row.published?.campaign.status ?? 'unpublished'),
          placements: campaign?.placements ?? [],
          has_draft: row.draft !== null,
          scheduled_for: row.scheduled.map(({ liveAt }) => liveAt),
          halted: row.halted,
          users: numbers[row.id]?.users ?? 0,
          clicked_users: numbers[row.id]?.clicked ?? 0,
          studio_url: context.studio.link(campaignPage(row.id)),
        };
      }),
      next_cursor: matching[from + PAGE]?.id ?? null,
    };
  },
});

const getCampaign = defineTool({
  name: 'get_campaign',
  title: 'Get a campaign',
  description:
    'Returns what is published, drafted and scheduled of a campaign. Pass draft.revision to update_draft and publish_campaign.',
  role: 'view',
  createInput: () => z.strictObject({ campaign_id: campaignId }),
  getSubject: ({ campaign_id }) => campaign_id,
  getPage: ({ campaign_id }) => campaignPage(campaign_id),
  async run({ campaign_id }, context) {
    const row = await readRow(campaign_id, context);
    return {
      campaign_id: row.id,
      published: row.published,
      draft: row.draft,
      scheduled: row.scheduled,
      is_archived: row.isArchived,
      halted: row.halted,
    };
  },
});

const getWorkspace = defineTool({
  name: 'get_workspace',
  title: 'Get the workspace',
  description:
    'Returns your rights and what campaigns may name: placements, segments, subscription groups, personas, sites, goals of the holdout, and the names of attributes, events and products that users have.',
  role: 'view',
  createInput: noInput,
  getSubject: noSubject,
  getPage: () => campaignPage(),
  async run(_, { studio }) {
    const { operator, workspace } = await studio.request<SessionResponse>('/api/session');
    const names = await studio.request<Record<string, unknown>>('/api/suggestions');
    return {
      operator: { name: operator.name, role: operator.role, can_view_users: operator.canViewUsers },
      workspace,
      names,
    };
  },
});

const listSegments = defineTool({
  name: 'list_segments',
  title: 'List segments',
  description: 'Lists segments: filter, estimated users, and the campaigns that use them.',
  role: 'view',
  createInput: noInput,
  getSubject: noSubject,
  getPage: () => '/segments',
  async run(_, { studio }) {
    const { segments } = await studio.request<{ segments: unknown[] }>('/api/segments');
    return { items: segments };
  },
});

const getSchema = defineTool({
  name: 'get_schema',
  title: 'Get the campaign schema',
  description:
    'Returns the JSON Schema of a campaign and the properties of each banner template. Read it before you write a draft.',
  role: 'view',
  createInput: noInput,
  getSubject: noSubject,
  getPage: () => campaignPage(),
  run: (_, { studio }) => studio.request<Record<string, unknown>>('/api/schema'),
});

const checkCampaign = defineTool({
  name: 'check_campaign',
  title: 'Check a campaign',
  description:
    'Returns the errors and warnings of a campaign, and which campaigns would come before and after it in each placement. An error prevents publishing.',
  role: 'view',
  createInput: () => oneCampaign('to check'),
  getSubject: subjectOfChoice,
  getPage: ({ campaign_id }) => campaignPage(campaign_id),
  async run(input, context) {
    const campaign = await chooseCampaign(input, context);
    const post = { method: 'POST', body: { campaign } } as const;
    const { checks } = await context.studio.request<{ checks: unknown[] }>('/api/validation', post);
    return { checks, effect: await context.studio.request<unknown>('/api/publish-impact', post) };
  },
});

const getReach = defineTool({
  name: 'get_reach',
  title: 'Get the reach',
  description:
    'Estimates how many users match the audience of a campaign, and how many would see it. Small numbers are rounded unless you may view users.',
  role: 'view',
  createInput: () => oneCampaign('to estimate'),
  getSubject: subjectOfChoice,
  getPage: ({ campaign_id }) => campaignPage(campaign_id),
  run: async (input, context) =>
    context.studio.request<Record<string, unknown>>('/api/reach', {
      method: 'POST',
      body: { campaign: await chooseCampaign(input, context) },
    }),
});

const getResults = defineTool({
  name: 'get_results',
  title: 'Get results',
  description:
    'Returns the results of a campaign: a headline, counts of each variant and of the control group, comparisons with confidence intervals, and sample ratio mismatch. Report the headline; do not name a winner that it does not name.',
  role: 'view',
  createInput: () =>
    z.strictObject({
      campaign_id: campaignId,
      include_days: z.boolean().optional().describe('Adds the counts of each day'),
    }),
  getSubject: ({ campaign_id }) => campaign_id,
  getPage: ({ campaign_id }) => campaignPage(campaign_id, '/results'),
  async run({ campaign_id, include_days = false }, context) {
    await readRow(campaign_id, context);
    const { days, ...results } = await context.studio.request<ResultsResponse>(
      `/api/results/${encodeURIComponent(campaign_id)}`,
    );
    return { ...results, ...(include_days && { days }) };
  },
});

const getSampleSize = defineTool({
  name: 'get_sample_size',
  title: 'Get the sample size',
  description:
    'Returns how many users should see a variant to detect a lift with 80% power. Set it as target_sample_size of the campaign.',
  role: 'view',
  createInput: () =>
    z.strictObject({
      campaign_id: campaignId,
      rate: z.number().gt(0).lt(1).describe('Rate without the change, such as 0.05'),
      lift: z.number().describe('Relative lift to detect, such as 0.2 for 5% to 6%'),
    }),
  getSubject: ({ campaign_id }) => campaign_id,
  getPage: ({ campaign_id }) => campaignPage(campaign_id),
  async run({ campaign_id, rate, lift }, context) {
    const campaign = currentCampaign(await readRow(campaign_id, context));
    return context.studio.request<Record<string, unknown>>('/api/sample-size', {
      method: 'POST',
      body: { campaign, rate, lift },
    });
  },
});

const userId = z
  .string()
  .min(1)
  .max(1_000)
  .describe('External ID of a user. The audit log records who viewed which user');

const explainPlacement = defineTool({
  name: 'explain_placement',
  title: 'Explain a placement',
  description:
    'Explains for a new user, a persona or (with the right to view users) a single user which campaign each placement shows, and why every other campaign is not shown.',
  role: 'view',
  createInput: ({ canViewUsers }) =>
    z.strictObject({
      placements: z.array(z.string()).max(100).optional().describe('Placement IDs; default all'),
      persona: z.string().optional().describe('Name of a persona of get_workspace'),
      ...(canViewUsers && { user_id: userId.optional() }),
    }),
  getSubject: noSubject,
  getPage: () => '/explain',
  async run(input, { studio }) {
    const { placements, persona, user_id } = input;
    if (persona !== undefined && user_id !== undefined) {
      throw new Error('give either persona or user_id, not both');
    }
    const person = {
      ...(user_id !== undefined && { user: user_id }),
      ...(persona !== undefined && { persona }),
    };
    return studio.request<Record<string, unknown>>('/api/explain', {
      method: 'POST',
      body: { person, ...(placements && { placements }) },
    });
  },
});

const listHistory = defineTool({
  name: 'list_history',
  title: 'List the history',
  description: 'Lists releases, newest first: author, note, time and content.',
  role: 'view',
  createInput: () =>
    z.strictObject({
      campaign_id: campaignId.optional(),
      before: z.int().positive().optional().describe('next_before of the previous page'),
    }),
  getSubject: ({ campaign_id = '' }) => campaign_id,
  getPage: ({ campaign_id }) => campaignPage(campaign_id, '/history'),
  async run({ campaign_id, before }, context) {
    const query = new URLSearchParams();
    if (campaign_id !== undefined) query.set('campaign', campaign_id);
    if (before !== undefined) query.set('before', String(before));
    const page = await context.studio.request<{ releases: unknown[]; before: number | null }>(
      `/api/releases?${query}`,
    );
    return { items: page.releases, next_before: page.before };
  },
});

const listDataRuns = defineTool({
  name: 'list_data_runs',
  title: 'List data runs',
  description:
    'Without an integration, lists the integrations and their last run. With one, lists its runs and rejected rows with the reasons.',
  role: 'view',
  createInput: () => z.strictObject({ integration_id: z.string().min(1).optional() }),
  getSubject: ({ integration_id = '' }) => integration_id,
  getPage: () => '/data',
  async run({ integration_id }, { studio }) {
    const path = integration_id === undefined ? '' : `/${encodeURIComponent(integration_id)}`;
    return studio.request<Record<string, unknown>>(`/api/integrations${path}`);
  },
});

/** Read-only tools. */
export const readTools: readonly Tool[] = [
  getWorkspace,
  listCampaigns,
  getCampaign,
  getSchema,
  checkCampaign,
  explainPlacement,
  getReach,
  getResults,
  getSampleSize,
  listHistory,
  listSegments,
  listDataRuns,
];
