import { useSignal } from '@preact/signals';
import type { DayResults } from '../../../service/index.ts';
import type { GoalJson } from '../../campaign/campaign-json.ts';
import { formatNumber } from '../../campaign/format-number.ts';
import { type Arm, goalName } from '../../statistics/metrics.ts';
import { getArmColor } from '../components/arm-colors.ts';
import { into, Segments } from '../components/controls.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { formatShare, getShare } from '../components/format.ts';

/** Dash patterns that distinguish the arms without color, in pixels. */
const DASHES = ['', '6 4', '2 3', '10 4 2 4'];
const MAX_DATES = 7;

const dayNames = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
/** Formats `2026-11-17` as `17 Nov`. */
export const dayText = (day: string): string => dayNames.format(Date.parse(day));

interface Measure {
  name: string;
  help: string;
  /** Returns the value of an arm on a day; `null` if there is none. */
  valueOf(counts: DayResults): number | null;
  format(value: number): string;
  /** Minimum upper bound of the axis. */
  least: number;
  /** Whether the control group has values. */
  appliesToControl?: boolean;
}

const RATE = 'rate';

const toCount = (name: string, help: string, read: Measure['valueOf']): Measure => ({
  name,
  help,
  valueOf: read,
  format: formatNumber,
  least: 4,
});

const MEASURES: Record<string, Measure> = {
  [RATE]: {
    name: 'Click rate',
    help: 'Users who clicked on a day, as a share of those who saw it that day. A click after midnight counts on the next day. No share if more users clicked than saw it.',
    valueOf: ({ clicked, exposed }) => getShare(clicked, exposed),
    format: (rate) => formatShare(rate, 1),
    least: 0.01,
  },
  users: toCount('Users', 'Users with an impression on that day.', ({ exposed }) => exposed),
  views: toCount('Impressions', 'Impressions on that day.', ({ impressions }) => impressions),
  clicks: toCount('Clicks', 'Clicks on that day.', ({ clicks }) => clicks),
};

const getGoalMeasures = (goals: readonly GoalJson[]): Record<string, Measure> =>
  Object.fromEntries(
    goals.map((goal, index): [string, Measure] => [
      `goal ${index}`,
      {
        ...toCount(
          goalName(goal),
          'Users by the day of their first conversion.',
          ({ goals: results }) => results[index]?.converted ?? 0,
        ),
        appliesToControl: true,
      },
    ]),
  );

/** Returns the next round number with one digit, even so that its half is round too. */
const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.ceil(value / power / 2) * 2 * power;
};

interface LinesProps {
  dates: readonly string[];
  /** Values of each line by day; `null` interrupts the line. */
  lines: readonly (readonly (number | null)[])[];
  edited: readonly string[];
  measure: Measure;
}

/** Line chart. Its units are percent of its size, and strokes and labels do not scale. */
const Lines = ({ dates, lines, edited, measure: { format, least } }: LinesProps) => {
  const top = roundUp(Math.max(least, ...lines.flat().map((value) => value ?? 0)));
  const [first, last] = [Date.parse(dates[0]!), Date.parse(dates.at(-1)!)];
  // Centers the points of a single day.
  const x = (day: string) => (first === last ? 50 : (100 * (Date.parse(day) - first)) / (last - first));
  const y = (value: number) => 100 - (100 * value) / top;
  const path = (values: readonly (number | null)[]) =>
    values
      .map((value, index) => {
        const isStart = (values[index - 1] ?? null) === null;
        return value === null ? '' : `${isStart ? 'M' : 'L'}${x(dates[index]!)} ${y(value)}`;
      })
      .join('');
  /** Points of days without neighbors, which have no line. A line without length draws a point. */
  const points = (values: readonly (number | null)[]) =>
    values
      .map((value, index) => {
        const isAlone = (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null;
        return value !== null && isAlone ? `M${x(dates[index]!)} ${y(value)}h0` : '';
      })
      .join('');
  const step = Math.ceil(dates.length / MAX_DATES);
  return (
    <div class="chart" aria-hidden="true">
      <div class="chart-values">
        {[top, top / 2, 0].map((value) => (
          <span key={value}>{format(value)}</span>
        ))}
      </div>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        <path class="chart-grid" d="M0 0h100M0 50h100M0 100h100" />
        <path class="chart-edits" d={edited.map((day) => `M${x(day)} 0v100`).join('')} />
        {lines.map((values, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an arm is identified by its position
          <g key={index} stroke={getArmColor(index)}>
            <path class="chart-line" d={path(values)} stroke-dasharray={DASHES[index % DASHES.length]} />
            <path class="chart-line chart-points" d={points(values)} />
          </g>
        ))}
      </svg>
      <div class="chart-dates">
        {dates.map(
          (day, index) =>
            index % step === 0 && (
              <span key={day} style={{ insetInlineStart: `${x(day)}%` }}>
                {dayText(day)}
              </span>
            ),
        )}
      </div>
    </div>
  );
};

interface DayChartProps {
  days: readonly DayResults[];
  arms: readonly Arm[];
  goals: readonly GoalJson[];
  /** Days on which the campaign changed. */
  edited: readonly string[];
  timeZone: string;
}

/** Results by day, as a chart and a table. */
export const DayChart = ({ days, arms, goals, edited, timeZone }: DayChartProps) => {
  const chosen = useSignal(RATE);
  const measures = { ...MEASURES, ...getGoalMeasures(goals) };
  const measure = measures[chosen.value]!;
  const shown = arms.filter(({ variantId }) => variantId !== null || measure.appliesToControl);
  const dates = [...new Set(days.map(({ day }) => day))].sort();
  const byDayAndVariant = new Map(days.map((each) => [`${each.day} ${each.variantId}`, each]));
  const find = (date: string, arm: Arm) => byDayAndVariant.get(`${date} ${arm.variantId}`);
  const readValue = (date: string, arm: Arm) => {
    const counts = find(date, arm);
    return counts ? measure.valueOf(counts) : null;
  };
  return (
    <>
      <Segments
        label="Chart"
        isLabelHidden
        options={Object.entries(measures).map(([value, { name }]) => ({ value, name }))}
        chosen={chosen.value}
        onChoose={into(chosen)}
      />
      <p class="muted">
        {measure.help} Days in {timeZone}.{edited.length > 0 && ' Vertical lines mark edits.'}
      </p>
      <ul class="row chart-names" aria-hidden="true">
        {shown.map(({ variantId, name }, index) => (
          <li key={variantId}>
            <svg viewBox="0 0 28 4" width="28" height="4" aria-hidden="true">
              <path
                class="chart-line"
                d="M0 2h28"
                stroke={getArmColor(index)}
                stroke-dasharray={DASHES[index % DASHES.length]}
              />
            </svg>
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
      <Lines
        dates={dates}
        lines={shown.map((arm) => dates.map((day) => readValue(day, arm)))}
        edited={edited.filter((day) => dates.includes(day))}
        measure={measure}
      />
      <details class="more">
        <summary>Show as table</summary>
        <DataTable
          label="Day by day"
          rows={dates}
          getRowKey={(day) => day}
          columns={[
            {
              name: 'Day',
              kind: 'head',
              cell: (day) => (edited.includes(day) ? `${dayText(day)}, changed` : dayText(day)),
            },
            ...shown.map(
              (arm): Column<string> => ({
                name: arm.name,
                id: arm.variantId ?? 'control',
                kind: 'number',
                cell: (day) => {
                  const { clicked, exposed } = find(day, arm) ?? { clicked: 0, exposed: 0 };
                  const value = readValue(day, arm);
                  return (
                    <>
                      {value === null ? '–' : measure.format(value)}
                      {chosen.value === RATE && (
                        <span class="small">
                          {formatNumber(clicked)} of {formatNumber(exposed)}
                        </span>
                      )}
                    </>
                  );
                },
              }),
            ),
          ]}
        />
      </details>
    </>
  );
};
