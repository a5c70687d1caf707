import { COUNT_FIELDS } from '../../../protocol/index.ts';
import type { Counts } from '../../../service/index.ts';
import type { GoalJson } from '../../campaign/campaign-json.ts';
import { capitalize } from '../../campaign/capitalize.ts';
import { formatNumber } from '../../campaign/format-number.ts';
import type { SinceEnd } from '../../server/ended-test.ts';
import type { ResultsResponse } from '../../server/routes/results.ts';
import type { Comparison } from '../../statistics/compare.ts';
import { formatLift, formatMoney } from '../../statistics/format-difference.ts';
import { type Arm, COUNTS_EXCEPT_IMPRESSIONS, goalName } from '../../statistics/metrics.ts';
import { formatInterval } from '../../statistics/sentences.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { formatShare } from '../components/format.ts';

interface CountsTableProps {
  arms: readonly Arm[];
  goals: readonly GoalJson[];
  currencies: readonly string[];
}

const NONE = '–';

const share = (part: number, of: number) => (
  <>
    {formatShare(part, of)} <span class="small">{formatNumber(part)}</span>
  </>
);
interface CountsRow extends Counts {
  variantId: string | null;
}

/** Columns of users, impressions and actions. Only users apply to the control group, because it sees no banner. */
const countColumns = <Row extends CountsRow>(actions = COUNTS_EXCEPT_IMPRESSIONS): Column<Row>[] => {
  const ofSeen = (name: string, cell: Column<Row>['cell']): Column<Row> => ({
    name,
    kind: 'number',
    cell: (row) => (row.variantId === null ? NONE : cell(row)),
  });
  return [
    { name: 'Users', kind: 'number', cell: ({ exposed }) => formatNumber(exposed) },
    ofSeen('Impressions', ({ impressions }) => formatNumber(impressions)),
    ...actions.map(({ users }) => ofSeen(capitalize(users), (row) => share(row[users], row.exposed))),
  ];
};

/** Counts of each variant and of the control group. */
export const CountsTable = ({ arms, goals, currencies }: CountsTableProps) => {
  const goalColumns = goals.map(
    (goal, index): Column<Arm> => ({
      name: goalName(goal),
      id: `goal ${index}`,
      kind: 'number',
      cell: (arm) => share(arm.goals[index]!.converted, arm.exposed),
    }),
  );
  const revenueColumns = goals.flatMap((goal, index): Column<Arm>[] => {
    if (goal.product == null || currencies.length !== 1) return [];
    const cell = ({ exposed, goals: of }: Arm) =>
      exposed === 0 ? NONE : formatMoney(of[index]!.revenue / exposed);
    return [{ name: `${currencies[0]} per user`, id: `revenue ${index}`, kind: 'number', cell }];
  });
  return (
    <DataTable
      label="Results by variant"
      rows={arms}
      getRowKey={({ variantId }) => variantId ?? ''}
      columns={[
        {
          name: 'Variant',
          kind: 'head',
          cell: ({ variantId, name }) => (variantId === null ? 'Control group' : name),
        },
        ...countColumns<Arm>(),
        ...goalColumns,
        ...revenueColumns,
      ]}
    />
  );
};

interface SinceTableProps {
  since: readonly SinceEnd[];
  winner: string;
  goals: readonly GoalJson[];
}

/** Counts since the test ended, without rates, because users of the test continue to click. */
export const SinceTable = ({ since, winner, goals }: SinceTableProps) => (
  <DataTable
    label="Since the test ended"
    rows={since}
    getRowKey={({ isControl }) => String(isControl)}
    columns={[
      { name: 'Group', kind: 'head', cell: ({ isControl }) => (isControl ? 'Control group' : winner) },
      { name: 'New users', kind: 'number', cell: ({ users }) => formatNumber(users) },
      ...Object.values(COUNT_FIELDS).map(
        ({ events }): Column<SinceEnd> => ({
          name: capitalize(events),
          kind: 'number',
          cell: (row) => (row.isControl ? NONE : formatNumber(row[events])),
        }),
      ),
      ...goals.map(
        (goal, index): Column<SinceEnd> => ({
          name: goalName(goal),
          id: `goal ${index}`,
          kind: 'number',
          cell: ({ converted }) => formatNumber(converted[index]!),
        }),
      ),
    ]}
  />
);

const meanText = (mean: number, unit: Comparison['unit']) =>
  unit === 'money' ? formatMoney(mean) : formatShare(mean, 1);

/** Chart of a confidence interval with zero in the middle. The table has the same numbers. */
const Interval = ({ comparison, widest }: { comparison: Comparison; widest: number }) => {
  const { difference } = comparison;
  if (!difference || widest === 0) return null;
  const at = (value: number) => 50 + (50 * Math.max(-widest, Math.min(widest, value))) / widest;
  const isClear = difference.low > 0 || difference.high < 0;
  return (
    <span class="interval" aria-hidden="true">
      <span
        class="interval-bar"
        data-clear={isClear}
        style={{
          insetInlineStart: `${at(difference.low)}%`,
          inlineSize: `${at(difference.high) - at(difference.low)}%`,
        }}
      />
      <span class="interval-point" style={{ insetInlineStart: `${at(difference.estimate)}%` }} />
    </span>
  );
};

/** Comparisons with their confidence intervals. */
export const ComparisonTable = ({ results }: { results: ResultsResponse }) => {
  const { comparisons, arms } = results;
  const widest = (unit: Comparison['unit']) =>
    Math.max(
      0,
      ...comparisons
        .filter((each) => each.unit === unit)
        .flatMap(({ difference }) =>
          difference ? [Math.abs(difference.low), Math.abs(difference.high)] : [],
        ),
    );
  const getArmName = (index: number) => (arms[index]!.variantId === null ? 'control' : arms[index]!.name);
  return (
    <DataTable
      label="Differences"
      rows={comparisons}
      getRowKey={({ metric, treatment, baseline }) => `${metric} ${treatment} ${baseline}`}
      columns={[
        { name: 'Metric', kind: 'head', cell: ({ label }) => label },
        {
          name: 'Comparison',
          cell: ({ treatment, baseline }) => (
            <>
              <bdi>{getArmName(treatment)}</bdi> vs <bdi>{getArmName(baseline)}</bdi>
            </>
          ),
        },
        {
          name: 'Rates',
          kind: 'number',
          cell: ({ means, unit }) => means.map((mean) => meanText(mean, unit)).join(' : '),
        },
        {
          name: 'Lift',
          kind: 'number',
          cell: ({ lift }) => (lift === null ? '–' : formatLift(lift)),
        },
        {
          name: 'Difference (95% CI)',
          cell: (comparison) => (
            <>
              <Interval comparison={comparison} widest={widest(comparison.unit)} />
              {formatInterval(comparison)}
            </>
          ),
        },
        { name: 'Users', kind: 'number', cell: ({ users }) => formatNumber(users) },
      ]}
    />
  );
};

interface PartPanelProps {
  /** Header of the column with names, such as `Placement`. */
  first: string;
  arms: readonly Arm[];
  parts: readonly (CountsRow & { name: string })[];
  /** Actions that the parts count. Default: all. */
  actions?: typeof COUNTS_EXCEPT_IMPRESSIONS;
}

/** Counts by placement, language or button, and by variant. */
export const PartPanel = ({ first, arms, parts, actions }: PartPanelProps) => {
  const armName = (variantId: string | null) =>
    variantId === null
      ? 'Control group'
      : (arms.find((arm) => arm.variantId === variantId)?.name ?? variantId);
  const kind = first.toLowerCase();
  return (
    <section class="panel">
      <h2>By {kind}</h2>
      <DataTable
        label={`Results by ${kind}`}
        rows={parts}
        getRowKey={({ name, variantId }) => `${name} ${variantId}`}
        columns={[
          { name: first, kind: 'head', cell: ({ name }) => name },
          { name: 'Variant', cell: ({ variantId }) => <bdi>{armName(variantId)}</bdi> },
          ...countColumns<PartPanelProps['parts'][number]>(actions),
        ]}
      />
    </section>
  );
};
