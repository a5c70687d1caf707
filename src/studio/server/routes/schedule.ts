import { DAY_MS } from '../../../protocol/index.ts';
import { type Campaign, priorityOrder, readCampaign } from '../../../service/index.ts';
import { get, type ResponseOf, type StudioContext } from '../route.ts';
import { campaignRows } from './campaigns.ts';

const DAYS = 56;

/** Time during which a campaign runs in a placement. */
export interface PlacementSpan {
  /** Start in Unix milliseconds. */
  from: number;
  to: number;
  /** Campaign for all users with higher priority, so that only users who dismissed it get this campaign; `null` if none. */
  behind: string | null;
}

interface CalendarRow {
  campaign: Campaign;
  spans: PlacementSpan[];
}

/** Calendar rows by placement ID and campaign ID. */
type Calendar = Map<string, Map<string, CalendarRow>>;

const isForEveryone = ({ audience, frequency, controlPercentage }: Campaign): boolean =>
  audience === null && frequency === null && controlPercentage === 0;

/** Splits spans and marks the parts that another campaign covers. */
const cover = (spans: readonly PlacementSpan[], { from, to, name }: PlacementSpan & { name: string }) =>
  spans.flatMap((span) => {
    const [start, end] = [Math.max(span.from, from), Math.min(span.to, to)];
    if (span.behind !== null || start >= end) return [span];
    const parts = [
      { ...span, to: start },
      { from: start, to: end, behind: name },
      { ...span, from: end },
    ];
    return parts.filter((part) => part.from < part.to);
  });

/** Adds the campaigns that run in a period in which no release goes live. */
const addPeriod = (
  calendar: Calendar,
  { campaigns, placements }: ReturnType<typeof priorityOrder>,
  period: Pick<PlacementSpan, 'from' | 'to'>,
): void => {
  for (const [placementId, { all }] of placements) {
    const rows = calendar.get(placementId) ?? new Map<string, CalendarRow>();
    calendar.set(placementId, rows);
    const covers: (PlacementSpan & { name: string })[] = [];
    for (const campaign of all.map((rank) => campaigns[rank]!)) {
      const { campaignId, name, status, startsAtMs, endsAtMs } = campaign;
      const from = Math.max(period.from, startsAtMs ?? period.from);
      const to = Math.min(period.to, endsAtMs ?? period.to);
      if (status !== 'active' || from >= to) continue;
      const row: CalendarRow = rows.get(campaignId) ?? { campaign, spans: [] };
      rows.set(campaignId, row);
      for (const span of covers.reduce(cover, [{ from, to, behind: null }])) {
        const last = row.spans.at(-1);
        if (last?.to === span.from && last.behind === span.behind) last.to = span.to;
        else row.spans.push(span);
      }
      if (isForEveryone(campaign)) covers.push({ from, to, behind: null, name });
    }
  }
};

/** Returns the campaigns of each placement in a period. Scheduled releases replace live campaigns when they go live. */
const createCalendar = async (context: StudioContext, from: number, to: number): Promise<Calendar> => {
  const { workspace, studio } = context;
  const hasReleases = workspace.campaignsFrom === 'studio';
  const releases = hasReleases ? await studio.scheduledReleases(workspace.workspaceId, from) : [];
  const ahead = releases.filter(({ kind, liveAtMs }) => kind === 'campaign' && liveAtMs < to);
  const campaigns = new Map(workspace.campaigns.map((each) => [each.campaignId, each]));
  const calendar: Calendar = new Map();
  const times = [...new Set([from, ...ahead.map(({ liveAtMs }) => liveAtMs)])];
  for (const [index, time] of times.entries()) {
    for (const { subjectId, content, liveAtMs } of ahead.filter((each) => each.liveAtMs === time)) {
      const { campaign } = readCampaign(content, { segments: workspace.segments, publishedAtMs: liveAtMs });
      if (campaign) campaigns.set(subjectId, campaign);
    }
    const order = priorityOrder({ ...workspace, campaigns: [...campaigns.values()] });
    addPeriod(calendar, order, { from: time, to: times[index + 1] ?? to });
  }
  return calendar;
};

/** Returns the campaigns of each placement in the order of evaluation, and the campaigns with scheduled releases. */
export const readSchedule = get('/api/schedule', 'view', async (context) => {
  const { workspace, nowMs: from } = context;
  const to = from + DAYS * DAY_MS;
  const calendar = await createCalendar(context, from, to);
  const named = new Map(workspace.placements?.map(({ placementId, name }) => [placementId, name]));
  return {
    from,
    to,
    placements: [...new Set([...named.keys(), ...calendar.keys()])].map((id) => {
      const rows = calendar.get(id) ?? new Map<string, CalendarRow>();
      const firsts = [...rows.values()].map(({ campaign }) => campaign);
      return {
        id,
        name: named.get(id) ?? id,
        campaigns: priorityOrder({ ...workspace, campaigns: firsts }).campaigns.map((campaign) => ({
          id: campaign.campaignId,
          name: campaign.name,
          isForEveryone: isForEveryone(campaign),
          spans: rows.get(campaign.campaignId)!.spans,
        })),
      };
    }),
    scheduled: (await campaignRows(context)).filter(({ scheduled }) => scheduled.length > 0),
  };
});
export type ScheduleResponse = ResponseOf<typeof readSchedule>;
