import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DayResults } from '../../../service/index.ts';
import type { Arm } from '../../statistics/metrics.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { countText, shareText } from '../parts/numbers.ts';
import { COLOURS, DASHES, dayText, drawChart } from './draw-chart.ts';

interface DayChartProps {
  days: readonly DayResults[];
  arms: readonly Arm[];
  timeZone: string;
}

/** Whether the page is dark now: a canvas has to be drawn again where it changes. */
const useDarkPage = (): boolean => {
  const query = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), []);
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const look = () => setDark(query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, [query]);
  return isDark;
};

/** Click rates day by day: a chart, and the table behind it. */
export const DayChart = ({ days, arms, timeZone }: DayChartProps) => {
  const box = useRef<HTMLDivElement>(null);
  /** False where the library did not come: then the table is opened. */
  const [isDrawn, setDrawn] = useState(true);
  const isDark = useDarkPage();
  const shown = useMemo(() => arms.filter(({ variantId }) => variantId !== null), [arms]);
  const dates = useMemo(() => [...new Set(days.map(({ day }) => day))], [days]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are those of the page, light or dark
  useEffect(() => {
    const drawn = drawChart(box.current!, { days, dates, arms: shown });
    drawn.then(
      () => setDrawn(true),
      () => setDrawn(false),
    );
    return () =>
      void drawn.then(
        (remove) => remove(),
        () => undefined,
      );
  }, [days, dates, shown, isDark]);

  return (
    <>
      <p class="muted">People who clicked, of those who saw it on that day (days in {timeZone}).</p>
      <ul class="chart-names" aria-hidden="true" hidden={!isDrawn}>
        {shown.map(({ variantId, name }, index) => (
          <li key={variantId}>
            <svg viewBox="0 0 28 4" width="28" height="4" aria-hidden="true">
              <line
                x2="28"
                y1="2"
                y2="2"
                stroke={`var(${COLOURS[index % COLOURS.length]})`}
                stroke-width="2"
                stroke-dasharray={DASHES[index % DASHES.length]!.join(' ')}
              />
            </svg>
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
      <div class="chart" ref={box} aria-hidden="true" hidden={!isDrawn} />
      <details class="more" open={!isDrawn}>
        <summary>The same as a table</summary>
        <DataTable
          label="Day by day"
          rows={dates}
          keyOf={(day) => day}
          columns={[
            { name: 'Day', kind: 'head', cell: dayText },
            ...shown.map(
              ({ variantId, name }): Column<string> => ({
                name,
                id: variantId!,
                kind: 'number',
                cell: (day) => {
                  const counts = days.find((each) => each.day === day && each.variantId === variantId);
                  const { clicked, exposed } = counts ?? { clicked: 0, exposed: 0 };
                  return (
                    <>
                      {shareText(clicked, exposed)}{' '}
                      <span class="small">
                        {countText(clicked)} of {countText(exposed)}
                      </span>
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
