import type { ResultsAnswer } from '../../server/routes/results.ts';
import type { Comparison } from '../../statistics/compare.ts';
import { rangeWords } from '../../statistics/sentences.ts';
import { countText, moneyText, shareText } from '../parts/numbers.ts';
import { NumberHead, TableBox } from '../parts/table-box.tsx';

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
    <TableBox label="Differences" isStacked>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Who against whom</th>
          <NumberHead>Rates</NumberHead>
          <th scope="col">Difference, 95 % certain</th>
          <NumberHead>People</NumberHead>
        </tr>
      </thead>
      <tbody>
        {comparisons.map((comparison) => (
          <tr key={`${comparison.metric} ${comparison.one}`}>
            <th scope="row">
              <bdi>{comparison.label}</bdi>
            </th>
            <td>
              <bdi>{nameOf(comparison.one)}</bdi> against <bdi>{nameOf(comparison.other)}</bdi>
            </td>
            <td class="number" data-label="Rates">
              {meanText(comparison.means[0], comparison.unit)} :{' '}
              {meanText(comparison.means[1], comparison.unit)}
            </td>
            <td>
              <Interval comparison={comparison} widest={widest(comparison.unit)} />
              {rangeWords(comparison)}
            </td>
            <td class="number" data-label="People">
              {countText(comparison.people)}
            </td>
          </tr>
        ))}
      </tbody>
    </TableBox>
  );
};
