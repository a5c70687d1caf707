import * as z from 'zod/mini';
import { described } from '../../protocol/schemas/index.ts';
import { defineRoute } from '../api/route.ts';
import type { Campaign } from '../campaigns/campaign.ts';
import { conversionBehavior } from '../data-out/data-event.ts';
import { HttpError } from '../http/http-request.ts';
import type { DayResults } from '../results/read.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Campaigns or segments per page. */
const PAGE_SIZE = 100;
const MAX_DAYS = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Common settings of the report routes. */
const COMMON = { method: 'GET', limit: 'reports' } as const;

const message = z.string().check(described('`success`, or what is wrong.'));
const id = (of: string) => z.string(`'${of}' is required`).check(described(`ID of the ${of.split('_')[0]}.`));
const integer = (
  name: string,
  { min, max, standard, description }: { min: number; max: number; standard?: number; description: string },
) =>
  z.pipe(
    z.optional(z.string().check(described(description))),
    z.transform((text, context) => {
      const value = text === undefined ? standard : /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      if (value !== undefined && value >= min && value <= max) return value;
      const issue = `'${name}' must be an integer from ${min} to ${max}`;
      context.issues.push({ code: 'custom', message: issue, input: text });
      return z.NEVER;
    }),
  );
const time = (name: string, description: string) =>
  z.pipe(
    z.optional(z.string().check(described(description))),
    z.transform((text, context) => {
      if (text === undefined) return null;
      const ms = Date.parse(text);
      if (!Number.isNaN(ms)) return ms;
      context.issues.push({ code: 'custom', message: `'${name}' must be an ISO 8601 time`, input: text });
      return z.NEVER;
    }),
  );
const archivedFlag = z.pipe(
  z.optional(z.string().check(described('`true`: stopped campaigns too.'))),
  z.transform((text) => text === 'true'),
);
const listQuery = {
  page: integer('page', { min: 0, max: 1_000_000, standard: 0, description: 'Page, from 0.' }),
  sort_direction: z.optional(
    z
      .enum(['asc', 'desc'], "'sort_direction' must be asc or desc")
      .check(described('`asc` (default) or `desc`.')),
  ),
};

const iso = (ms: number | null): string => (ms === null ? '' : new Date(ms).toISOString());
/** Returns a page of a list in creation order. Pages past the end are empty, which is where connectors stop. */
const pageOf = <T>(all: readonly T[], page: number, direction: 'asc' | 'desc' = 'asc'): T[] =>
  (direction === 'asc' ? all : all.toReversed()).slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE);

const campaignOf = ({ campaigns }: Workspace, campaignId: string): Campaign => {
  const found = campaigns.find((campaign) => campaign.campaignId === campaignId);
  if (!found) throw new HttpError(400, 'Invalid campaign_id');
  return found;
};

export const campaignsList = defineRoute({
  ...COMMON,
  path: '/campaigns/list',
  permission: 'campaigns.list',
  query: z.object({
    ...listQuery,
    include_archived: archivedFlag,
    'last_edit.time[gt]': time('last_edit.time[gt]', 'Only campaigns that were edited after this time.'),
  }),
  operation: {
    id: 'listCampaigns',
    tag: 'Campaigns',
    summary: 'List campaigns',
    description:
      '100 a page, oldest first. A page past the end is empty. Stopped campaigns count as archived.',
    badRequest: 'A parameter is invalid.',
  },
  response: {
    status: 200,
    schema: z.object({
      campaigns: z
        .array(
          z.object({
            id: z.string().check(described('ID.')),
            last_edited: z.string().check(described('Time of its release; empty if it stands in the file.')),
            name: z.string().check(described('Name.')),
            is_api_campaign: z.boolean().check(described('Always `false`.')),
            tags: z.array(z.string()).check(described('Tags.')),
          }),
        )
        .check(described('At most 100.')),
      message,
    }),
  },
  handler({ workspace, query, metrics }) {
    const editedAfterMs = query['last_edit.time[gt]'];
    const all = workspace.campaigns.filter(
      ({ status, publishedAtMs }) =>
        (query.include_archived || status !== 'stopped') &&
        (editedAfterMs === null || publishedAtMs === null || publishedAtMs > editedAfterMs),
    );
    const campaigns = pageOf(all, query.page, query.sort_direction).map(
      ({ campaignId, name, tags, publishedAtMs }) => ({
        id: campaignId,
        last_edited: iso(publishedAtMs),
        name,
        is_api_campaign: false,
        tags: [...tags],
      }),
    );
    metrics.objects('campaigns', campaigns.length);
    return { body: { campaigns, message: 'success' } };
  },
});

export const campaignsDetails = defineRoute({
  ...COMMON,
  path: '/campaigns/details',
  permission: 'campaigns.details',
  query: z.object({ campaign_id: id('campaign_id') }),
  operation: {
    id: 'getCampaignDetails',
    tag: 'Campaigns',
    summary: 'Get a campaign',
    description: 'Status, schedule, variants and goals of a campaign.',
    badRequest: 'The campaign is unknown.',
  },
  response: { status: 200, schema: z.looseObject({ message }) },
  handler({ workspace, query, now }) {
    const campaign = campaignOf(workspace, query.campaign_id);
    const { name, status, startsAtMs, endsAtMs, publishedAtMs, tags, variants, conversions } = campaign;
    const isOver = endsAtMs !== null && endsAtMs <= now;
    return {
      body: {
        created_at: iso(publishedAtMs),
        updated_at: iso(publishedAtMs),
        archived: status === 'stopped',
        draft: status === 'draft',
        enabled: status === 'active' && !isOver,
        has_post_launch_draft: false,
        name,
        description: '',
        schedule_type: 'time_based',
        channels: ['banner'],
        first_sent: iso(startsAtMs),
        last_sent: iso(endsAtMs),
        tags: [...tags],
        teams: [],
        messages: {
          ...Object.fromEntries(
            variants.map((variant) => [variant.variantId, { channel: 'banner', name: variant.name }]),
          ),
          ...(campaign.controlPercentage > 0 && { control: { channel: 'banner', type: 'control' } }),
        },
        conversion_behaviors: conversions.map(conversionBehavior),
        message: 'success',
      },
    };
  },
});

const variantDay = ({ variants }: Campaign, variantId: string | null, day: DayResults | undefined) => {
  const { impressions = 0, clicks = 0, dismissals = 0, exposed = 0, clicked = 0, dismissed = 0 } = day ?? {};
  if (variantId === null) return { variation_name: 'Control', enrolled: exposed };
  return {
    variation_name: variants.find((each) => each.variantId === variantId)?.name ?? variantId,
    variation_api_id: variantId,
    total_impressions: impressions,
    unique_impressions: exposed,
    total_clicks: clicks,
    unique_clicks: clicked,
    total_dismissals: dismissals,
    unique_dismissals: dismissed,
    unique_recipients: exposed,
  };
};

export const campaignsDataSeries = defineRoute({
  ...COMMON,
  path: '/campaigns/data_series',
  permission: 'campaigns.data_series',
  query: z.object({
    campaign_id: id('campaign_id'),
    length: integer('length', { min: 1, max: MAX_DAYS, description: 'Days, 1 to 100.' }),
    ending_at: time('ending_at', 'Last day; default today.'),
  }),
  operation: {
    id: 'getCampaignSeries',
    tag: 'Campaigns',
    summary: 'Get the daily results of a campaign',
    description:
      'One entry a day, oldest first, in the time zone of the workspace. `messages.banners` has one entry a variant, and one of the control group with `enrolled`.',
    badRequest: 'The campaign is unknown, or a parameter is invalid.',
  },
  response: {
    status: 200,
    schema: z.object({
      data: z
        .array(
          z.object({
            time: z.string().check(described('Day, such as `2026-03-01`.')),
            unique_recipients: z.int().check(described('Users who saw a variant.')),
            messages: z
              .object({
                banners: z
                  .array(
                    z.looseObject({
                      variation_name: z.string().check(described('Name of the variant, or `Control`.')),
                    }),
                  )
                  .check(described('Counts of each variant, and `enrolled` of the control group.')),
              })
              .check(described('Counts by channel.')),
          }),
        )
        .check(described('One entry a day.')),
      message,
    }),
  },
  async handler({ workspace, store, query, now }) {
    const campaign = campaignOf(workspace, query.campaign_id);
    const { campaignId, variants, controlPercentage } = campaign;
    const { days } = await store.campaignResults(workspace.workspaceId, { campaignId, conversions: [] });
    const last = Date.parse(workspace.localDays.of(query.ending_at ?? now));
    const arms = new Set<string | null>([
      ...variants.map(({ variantId }) => variantId),
      ...(controlPercentage > 0 ? [null] : []),
      ...days.map(({ variantId }) => variantId),
    ]);
    const data = Array.from({ length: query.length }, (_, index) => {
      // Dates are in UTC, where each day has 24 hours.
      const day = new Date(last - (query.length - 1 - index) * DAY_MS).toISOString().slice(0, 10);
      const ofDay = days.filter((each) => each.day === day);
      return {
        time: day,
        unique_recipients: ofDay
          .filter(({ variantId }) => variantId !== null)
          .reduce((sum, { exposed }) => sum + exposed, 0),
        messages: {
          banners: [...arms].map((arm) =>
            variantDay(
              campaign,
              arm,
              ofDay.find(({ variantId }) => variantId === arm),
            ),
          ),
        },
      };
    });
    return { body: { data, message: 'success' } };
  },
});

export const segmentsList = defineRoute({
  ...COMMON,
  path: '/segments/list',
  permission: 'segments.list',
  query: z.object(listQuery),
  operation: {
    id: 'listSegments',
    tag: 'Campaigns',
    summary: 'List segments',
    description: '100 a page, in the order of the workspace file. A page past the end is empty.',
    badRequest: 'A parameter is invalid.',
  },
  response: {
    status: 200,
    schema: z.object({
      segments: z
        .array(
          z.object({
            id: z.string().check(described('ID.')),
            name: z.string().check(described('Name.')),
            analytics_tracking_enabled: z.boolean().check(described('Always `false`.')),
            tags: z.array(z.string()).check(described('Tags.')),
          }),
        )
        .check(described('At most 100.')),
      message,
    }),
  },
  handler({ workspace, query, metrics }) {
    const all = [...workspace.segments.values()];
    const segments = pageOf(all, query.page, query.sort_direction).map(({ segmentId, name }) => ({
      id: segmentId,
      name,
      analytics_tracking_enabled: false,
      tags: [],
    }));
    metrics.objects('segments', segments.length);
    return { body: { segments, message: 'success' } };
  },
});

/** Reports in the format of the vendor's REST API. */
export const REPORTS = [campaignsList, campaignsDetails, campaignsDataSeries, segmentsList];
