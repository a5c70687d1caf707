import type { ResultsAnswer } from '../../server/routes/results.ts';
import type { Comparison } from '../../statistics/compare.ts';
import { rangeWords } from '../../statistics/sentences.ts';
import { DataTable } from '../parts/data-table.tsx';
import { countText, liftText, moneyText, shareText } from '../parts/numbers.ts';

const meanText = (mean: number, unit: Comparison['unit']) =>
  unit === 'money' ? moneyText(mean) : shareText(mean, 1);

/** Where the interval lies, with zero in the middle; the table's words say the same. */
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

/** Every difference with its interval. */
export const ComparisonTable = ({ results }: { results: ResultsAnswer }) => {
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
  const nameOf = (index: number) => (arms[index]!.variantId === null ? 'control' : arms[index]!.name);
  return (
    <DataTable
      label="Differences"
      rows={comparisons}
      keyOf={({ metric, one, other }) => `${metric} ${one} ${other}`}
      columns={[
        { name: 'What', kind: 'head', cell: ({ label }) => label },
        {
          name: 'Who against whom',
          cell: ({ one, other }) => (
            <>
              <bdi>{nameOf(one)}</bdi> against <bdi>{nameOf(other)}</bdi>
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
          cell: ({ lift }) => (lift === null ? '–' : liftText(lift)),
        },
        {
          name: 'Difference, 95 % certain',
          cell: (comparison) => (
            <>
              <Interval comparison={comparison} widest={widest(comparison.unit)} />
              {rangeWords(comparison)}
            </>
          ),
        },
        { name: 'People', kind: 'number', cell: ({ people }) => countText(people) },
      ]}
    />
  );
};
