import * as z from 'zod/mini';
import { COUNT_FIELDS } from '../../../protocol/index.ts';
import { described } from '../../../protocol/schemas/index.ts';
import { flag, time } from '../../api/query.ts';
import { defineRoute } from '../../api/route.ts';
import type { Campaign } from '../../campaigns/campaign.ts';
import { conversionBehavior } from '../../data-out/data-event.ts';
import { HttpError } from '../../http/http-request.ts';
import type { ButtonDayResults } from '../../results/button-results.ts';
import type { DayResults } from '../../results/read.ts';
import { parseDate } from '../../users/dates.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { getPage, id, isoOrNull, listQuery, message, REPORT } from './report.ts';
import { daysQuery, getDays } from './series.ts';

const findCampaign = ({ campaigns }: Workspace, campaignId: string): Campaign => {
  const found = campaigns.find((campaign) => campaign.campaignId === campaignId);
  if (!found) throw new HttpError(400, 'Invalid campaign_id');
  return found;
};

export const campaignsList = defineRoute({
  ...REPORT,
  path: '/campaigns/list',
  permission: 'campaigns.list',
  query: z.object({
    ...listQuery,
    include_archived: flag('`true`: stopped campaigns too.'),
    'last_edit.time[gt]': time(
      'last_edit.time[gt]',
      'Only campaigns that were edited after this time, and those of the workspace file.',
    ),
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
            last_edited: z
              .nullable(z.string())
              .check(described('Time of its release; `null` if it is in the workspace file.')),
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
    const editedAfter = query['last_edit.time[gt]'];
    const editedAfterMs = editedAfter === undefined ? null : parseDate(editedAfter);
    const all = workspace.campaigns.filter(
      ({ status, publishedAtMs }) =>
        (query.include_archived || status !== 'stopped') &&
        (editedAfterMs === null || publishedAtMs === null || publishedAtMs > editedAfterMs),
    );
    const campaigns = getPage(all, query.page, query.sort_direction).map(
      ({ campaignId, name, tags, publishedAtMs }) => ({
        id: campaignId,
        last_edited: isoOrNull(publishedAtMs),
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
  ...REPORT,
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
    const campaign = findCampaign(workspace, query.campaign_id);
    const { name, status, startsAtMs, endsAtMs, publishedAtMs, tags, variants, goals } = campaign;
    const isOver = endsAtMs !== null && endsAtMs <= now;
    return {
      body: {
        created_at: isoOrNull(publishedAtMs),
        updated_at: isoOrNull(publishedAtMs),
        archived: status === 'stopped',
        draft: status === 'draft',
        enabled: status === 'active' && !isOver,
        has_post_launch_draft: false,
        name,
        description: '',
        schedule_type: 'time_based',
        channels: ['banner'],
        first_sent: isoOrNull(startsAtMs),
        last_sent: isoOrNull(endsAtMs),
        tags: [...tags],
        teams: [],
        messages: {
          ...Object.fromEntries(
            variants.map((variant) => [variant.variantId, { channel: 'banner', name: variant.name }]),
          ),
          ...(campaign.controlPercentage > 0 && { control: { channel: 'banner', type: 'control' } }),
        },
        conversion_behaviors: goals.map(conversionBehavior),
        message: 'success',
      },
    };
  },
});

/** Returns the converted users by goal: `conversions` for the first goal, then `conversions1`, `conversions2` … */
const toConversions = ({ goals }: Campaign, days: readonly DayResults[]): Record<string, number> =>
  Object.fromEntries(
    goals.map((_, index) => [
      `conversions${index || ''}`,
      days.reduce((sum, { goals }) => sum + goals[index]!.converted, 0),
    ]),
  );

const variantDay = (
  campaign: Campaign,
  variantId: string | null,
  day: DayResults | undefined,
  buttons: readonly ButtonDayResults[],
) => {
  const { variants } = campaign;
  const exposed = day?.exposed ?? 0;
  const conversions = toConversions(campaign, day ? [day] : []);
  if (variantId === null) return { variation_name: 'Control', enrolled: exposed, ...conversions };
  return {
    variation_name: variants.find((each) => each.variantId === variantId)?.name ?? variantId,
    variation_api_id: variantId,
    ...Object.fromEntries(
      Object.values(COUNT_FIELDS).flatMap(({ events, users }) => [
        [`total_${events}`, day?.[events] ?? 0],
        [`unique_${events}`, day?.[users] ?? 0],
      ]),
    ),
    unique_recipients: exposed,
    ...conversions,
    ...(buttons.length > 0 && {
      buttons: buttons.map(({ buttonId, clicks, clicked }) => ({
        button_id: buttonId,
        total_clicks: clicks,
        unique_clicks: clicked,
      })),
    }),
  };
};

export const campaignsDataSeries = defineRoute({
  ...REPORT,
  path: '/campaigns/data_series',
  permission: 'campaigns.data_series',
  query: z.object({
    campaign_id: id('campaign_id'),
    ...daysQuery,
  }),
  operation: {
    id: 'getCampaignSeries',
    tag: 'Campaigns',
    summary: 'Get the daily results of a campaign',
    description:
      'One entry a day, oldest first, in the time zone of the workspace. `messages.banners` has one entry a variant, with `buttons` if clicks have a `button_id`, and one of the control group with `enrolled`. `conversions` are the users who reached the first goal for the first time on that day, `conversions1` those of the second, and so on.',
    badRequest: 'The campaign is unknown, or a parameter is invalid.',
  },
  response: {
    status: 200,
    schema: z.object({
      data: z
        .array(
          z.looseObject({
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
    const campaign = findCampaign(workspace, query.campaign_id);
    const { campaignId, variants, controlPercentage, goals } = campaign;
    const { timeZone } = workspace.studio;
    const { days } = await store.campaignResults(workspace.workspaceId, {
      campaignId,
      goals,
      timeZone,
    });
    const arms = new Set<string | null>([
      ...variants.map(({ variantId }) => variantId),
      ...(controlPercentage > 0 ? [null] : []),
      ...days.map(({ variantId }) => variantId),
    ]);
    const requested = getDays(query, workspace.calendar, now);
    const range = { campaignId, firstDay: requested[0]!, lastDay: requested.at(-1)! };
    const buttons = await store.campaignButtonDays(workspace.workspaceId, range);
    const data = requested.map((day) => {
      const ofDay = days.filter((each) => each.day === day);
      const ofVariants = ofDay.filter(({ variantId }) => variantId !== null);
      return {
        time: day,
        unique_recipients: ofVariants.reduce((sum, { exposed }) => sum + exposed, 0),
        ...toConversions(campaign, ofVariants),
        messages: {
          banners: [...arms].map((arm) =>
            variantDay(
              campaign,
              arm,
              ofDay.find(({ variantId }) => variantId === arm),
              buttons.filter((each) => each.day === day && each.variantId === arm),
            ),
          ),
        },
      };
    });
    return { body: { data, message: 'success' } };
  },
});
