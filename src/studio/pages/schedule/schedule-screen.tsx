import { getCampaignName } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import type { PlacementSpan, ScheduleResponse } from '../../server/routes/schedule.ts';
import { DataTable } from '../components/data-table.tsx';
import { day, wholeMoment } from '../components/format.ts';
import { Resource } from '../components/loading.tsx';
import { ScheduledActions } from '../history/scheduled.tsx';
import { CampaignLink } from '../shell/router.tsx';
import '../screens.css';

const TICKS = 4;

interface ScheduledTableProps {
  scheduled: ScheduleResponse['scheduled'];
  onDone(): Promise<void>;
}

/** Scheduled releases of all campaigns with their actions, soonest first. */
const ScheduledTable = ({ scheduled, onDone }: ScheduledTableProps) => {
  const rows = scheduled
    .flatMap((row) =>
      row.scheduled.map((each) => ({ row, scheduled: each, name: getCampaignName(currentCampaign(row)) })),
    )
    .sort((one, other) => one.scheduled.liveAt.localeCompare(other.scheduled.liveAt));
  if (rows.length === 0) return <p class="muted">No release is scheduled.</p>;
  return (
    <DataTable
      label="Scheduled releases"
      rows={rows}
      getRowKey={({ scheduled: { release } }) => String(release)}
      columns={[
        {
          name: 'Campaign',
          kind: 'head',
          cell: ({ row, name }) => <CampaignLink id={row.id} name={name} />,
        },
        {
          name: 'Release',
          kind: 'number',
          cell: ({ row, scheduled: { release } }) => (
            <CampaignLink id={row.id} name={String(release)} tab="/history" />
          ),
        },
        { name: 'Goes live', cell: ({ scheduled: { liveAt } }) => wholeMoment(liveAt) },
        { name: 'By', cell: ({ scheduled: { author } }) => <bdi>{author}</bdi> },
        {
          name: 'Actions',
          cell: (each) => (
            <span class="row plan-actions">
              <ScheduledActions {...each} onDone={onDone} />
            </span>
          ),
        },
      ]}
    />
  );
};

type Bounds = Pick<ScheduleResponse, 'from' | 'to'>;

/** Formats a period, such as `from 2 Mar until 9 Mar`. Omits dates at the bounds of the calendar. */
const describeTime = ({ from, to }: Bounds, bounds: Bounds): string =>
  [from > bounds.from && `from ${day(from)}`, to < bounds.to && `until ${day(to)}`]
    .filter(Boolean)
    .join(' ') || 'throughout';

const ALWAYS = 'Runs throughout';

const describeSpans = (spans: readonly PlacementSpan[], bounds: Bounds): string =>
  spans
    .map((span) =>
      span.behind === null
        ? `Runs ${describeTime(span, bounds)}`
        : `behind “${span.behind}” ${describeTime(span, bounds)}`,
    )
    .join(', ')
    .replace(/^b/, 'B');

/** Campaigns of a placement on a time axis, in the order of evaluation. */
const Placement = ({
  placement: { name, campaigns },
  bounds,
}: {
  placement: ScheduleResponse['placements'][number];
  bounds: Bounds;
}) => {
  const percent = (ms: number) => `${(100 * (ms - bounds.from)) / (bounds.to - bounds.from)}%`;
  const ticks = Array.from(
    { length: TICKS },
    (_, index) => bounds.from + (index * (bounds.to - bounds.from)) / TICKS,
  );
  return (
    <section class="panel plan">
      <div class="plan-row plan-head">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        {campaigns.length > 0 && (
          <div class="plan-ticks" aria-hidden="true">
            {ticks.map((ms, index) => (
              <span key={ms}>{index === 0 ? 'Today' : day(ms)}</span>
            ))}
          </div>
        )}
      </div>
      {campaigns.length === 0 && <p class="muted">No campaign in the next weeks.</p>}
      <ol>
        {campaigns.map((campaign) => {
          const runs = describeSpans(campaign.spans, bounds);
          return (
            <li key={campaign.id} class="plan-row">
              <span>
                <CampaignLink id={campaign.id} name={campaign.name} />
                <span class="small">{campaign.isForEveryone ? 'Everyone' : 'Some users'}</span>
              </span>
              <span>
                <span class="plan-time">
                  {campaign.spans.map(({ from, to, behind }) => (
                    <span
                      key={from}
                      class="plan-bar"
                      data-behind={behind !== null}
                      style={{
                        insetInlineStart: percent(from),
                        inlineSize: percent(bounds.from + to - from),
                      }}
                    />
                  ))}
                </span>
                {/* Without dates the bar says it. */}
                <span class={runs === ALWAYS ? 'visually-hidden' : 'small'}>{runs}</span>
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
};

/** Scheduled releases and a calendar of the placements. */
export const ScheduleScreen = () => (
  <>
    <div class="row apart page-head">
      <h1>Schedule</h1>
    </div>
    <Resource<ScheduleResponse> path="/api/schedule">
      {({ scheduled, placements, ...bounds }, again) => (
        <div class="stack">
          <section class="stack tight">
            <h2>Scheduled releases</h2>
            <ScheduledTable scheduled={scheduled} onDone={again} />
          </section>
          <section class="stack">
            <h2>Placements</h2>
            <p class="muted">
              The next eight weeks. A user gets the first campaign of a placement whose audience they are in.
              Pale: behind a campaign for everyone, so only users who dismissed that one get it.
            </p>
            {placements.map((placement) => (
              <Placement key={placement.id} placement={placement} bounds={bounds} />
            ))}
          </section>
        </div>
      )}
    </Resource>
  </>
);
