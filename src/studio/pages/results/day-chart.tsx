import { useEffect, useRef } from 'preact/hooks';
import type { DayCounts } from '../../results-of.ts';
import type { Arm } from '../../statistics/compare.ts';
import { countText, shareText } from './numbers.ts';

const DAY_SECONDS = 86_400;
const HEIGHT = 240;
/** Told apart by their dashes as well, for eyes that do not tell colours apart. */
const DASHES = [[], [6, 4], [2, 3], [10, 4, 2, 4]];
const COLOURS = ['--accent', '--good', '--wait', '--bad'];
const DAY_STEPS = [1, 2, 7, 14, 28].map((days) => days * DAY_SECONDS);
const dayText = (seconds: number) => new Date(seconds * 1000).toISOString().slice(5, 10);

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A value for `light-dark()`, which a canvas does not resolve. */
const resolved = (name: string): string => {
  const probe = document.createElement('span');
  probe.style.color = colour(name);
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
};

interface DayChartProps {
  days: readonly DayCounts[];
  arms: readonly Arm[];
}

/** Click rates day by day: a chart, loaded when it is looked at, and the table behind it. */
export const DayChart = ({ days, arms }: DayChartProps) => {
  const box = useRef<HTMLDivElement>(null);
  const shown = arms.filter(({ variantId }) => variantId !== null);
  const dates = [...new Set(days.map(({ day }) => day))];
  const find = (day: string, variantId: string | null) =>
    days.find((each) => each.day === day && each.variantId === variantId);

  useEffect(() => {
    let isGone = false;
    let stop = () => undefined as void;
    const draw = async () => {
      const [{ default: Plot }] = await Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]);
      if (isGone || !box.current) return;
      const ink = resolved('--soft');
      const colours = COLOURS.map(resolved);
      const grid = { stroke: resolved('--line'), width: 1 };
      const axis = { stroke: ink, grid, ticks: grid };
      const plot = new Plot(
        {
          width: box.current.clientWidth,
          height: HEIGHT,
          cursor: { y: false },
          scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.1, 0.01)] } },
          legend: { show: false },
          axes: [
            { ...axis, incrs: DAY_STEPS, space: 64, values: (_, splits) => splits.map(dayText) },
            { ...axis, size: 60, values: (_, splits) => splits.map((at) => `${(at * 100).toFixed(1)} %`) },
          ],
          series: [
            {},
            ...shown.map(({ name }, index) => ({
              label: name,
              stroke: colours[index % colours.length]!,
              dash: DASHES[index % DASHES.length]!,
              width: 2,
              points: { show: dates.length < 15 },
            })),
          ],
        },
        [
          dates.map((day) => Date.parse(day) / 1000),
          ...shown.map(({ variantId }) =>
            dates.map((day) => {
              const counts = find(day, variantId);
              return counts && counts.exposed > 0 ? counts.clicked / counts.exposed : null;
            }),
          ),
        ],
        box.current,
      );
      const watcher = new ResizeObserver(([entry]) =>
        plot.setSize({ width: entry!.contentRect.width, height: HEIGHT }),
      );
      watcher.observe(box.current);
      stop = () => {
        watcher.disconnect();
        plot.destroy();
      };
    };
    // Without the chart the table is still there.
    draw().catch(() => undefined);
    return () => {
      isGone = true;
      stop();
    };
    // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew with other results
  }, [days]);

  return (
    <>
      <p class="muted">People who clicked, of those who saw it on that day (days in UTC).</p>
      <ul class="chart-names" aria-hidden="true">
        {shown.map(({ variantId, name }, index) => (
          <li key={variantId}>
            <svg viewBox="0 0 28 4" width="28" height="4">
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
      <div class="chart" ref={box} aria-hidden="true" />
      <details class="more">
        <summary>The same as a table</summary>
        <div class="table-box" tabIndex={0} role="region" aria-label="Day by day">
          <table>
            <thead>
              <tr>
                <th scope="col">Day</th>
                {shown.map(({ variantId, name }) => (
                  <th key={variantId} scope="col" class="number">
                    <bdi>{name}</bdi>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {dates.map((day) => (
                <tr key={day}>
                  <th scope="row">{day}</th>
                  {shown.map(({ variantId }) => {
                    const counts = find(day, variantId);
                    return (
                      <td key={variantId} class="number">
                        {shareText(counts?.clicked ?? 0, counts?.exposed ?? 0)}
                        <span class="small">
                          {countText(counts?.clicked ?? 0)} of {countText(counts?.exposed ?? 0)}
                        </span>
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
};
