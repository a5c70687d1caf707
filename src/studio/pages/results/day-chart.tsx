import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { DayResults } from '../../../service/index.ts';
import type { Arm } from '../../statistics/metrics.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { countText, getShare, shareText } from '../components/format.ts';

const DAY_SECONDS = 86_400;
const HEIGHT = 240;
/** Dash patterns that distinguish the arms without color. */
export const DASHES = [[], [6, 4], [2, 3], [10, 4, 2, 4]];
export const COLOURS = ['--accent', '--good', '--wait', '--bad'];
const DAY_STEPS = [1, 2, 7, 14, 28].map((days) => days * DAY_SECONDS);
/** Minimum upper bound of the axis, for rates of 0. */
const LEAST_TOP = 0.01;

const dayNames = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
/** Formats `2026-11-17` as `17 Nov`. */
export const dayText = (day: string): string => dayNames.format(Date.parse(day));

/** Resolves a custom property, including `light-dark()`, to a color that a canvas accepts. */
const resolveColor = (name: string): string => {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

/** Returns the counts of an arm on a day. */
const getCounts = (days: readonly DayResults[], day: string, variantId: string | null) =>
  days.find((each) => each.day === day && each.variantId === variantId) ?? { clicked: 0, exposed: 0 };

interface Drawn {
  days: readonly DayResults[];
  dates: readonly string[];
  arms: readonly Arm[];
  /** Days on which the campaign changed. */
  edited: readonly string[];
}

/** Replaces an invalid `navigator.language`, such as `en-US@posix`, because uPlot passes it to `Intl`, which throws. */
const mendLanguage = () => {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-GB', configurable: true });
  }
};

/** Draws click rates by day. The library is lazy-loaded. Resolves with a function that removes the chart. */
export const drawChart = async (
  box: HTMLElement,
  { days, dates, arms, edited }: Drawn,
): Promise<() => void> => {
  mendLanguage();
  const [{ default: Plot }] = await Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]);
  const colours = COLOURS.map(resolveColor);
  const grid = { stroke: resolveColor('--line'), width: 1 };
  const axis = { stroke: resolveColor('--soft'), grid, ticks: grid };
  const rates = arms.map(({ variantId }) =>
    dates.map((day) => {
      const { clicked, exposed } = getCounts(days, day, variantId);
      return getShare(clicked, exposed);
    }),
  );
  const plot = new Plot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      cursor: { y: false },
      legend: { show: false },
      hooks: {
        draw: [
          ({ ctx, bbox, valToPos }) => {
            ctx.strokeStyle = axis.stroke;
            for (const day of edited) {
              const x = Math.round(valToPos(Date.parse(day) / 1_000, 'x', true));
              ctx.strokeRect(x, bbox.top, 0, bbox.height);
            }
          },
        ],
      },
      scales: {
        // Centers the line if there is only one day.
        x: {
          range: (_, first, last) =>
            dates.length > 1 ? [first, last] : [first - DAY_SECONDS, first + DAY_SECONDS],
        },
        y: { range: (_, __, most) => [0, Math.max(most * 1.1, LEAST_TOP)] },
      },
      axes: [
        {
          ...axis,
          incrs: DAY_STEPS,
          space: 64,
          values: (_, splits) => splits.map((seconds) => dayNames.format(seconds * 1_000)),
        },
        { ...axis, size: 60, values: (_, splits) => splits.map((rate) => shareText(rate, 1)) },
      ],
      series: [
        {},
        ...arms.map(({ name }, index) => ({
          label: name,
          stroke: colours[index % colours.length]!,
          dash: DASHES[index % DASHES.length]!,
          width: 2,
          points: { show: dates.length < 15 },
        })),
      ],
    },
    [dates.map((day) => Date.parse(day) / 1_000), ...rates],
    box,
  );
  const watcher = new ResizeObserver(([entry]) =>
    plot.setSize({ width: entry!.contentRect.width, height: HEIGHT }),
  );
  watcher.observe(box);
  return () => {
    watcher.disconnect();
    plot.destroy();
  };
};

interface DayChartProps {
  days: readonly DayResults[];
  arms: readonly Arm[];
  edited: readonly string[];
  timeZone: string;
}

/** Returns whether the page uses the dark color scheme. A canvas must be redrawn when the scheme changes. */
const useDarkPage = (): boolean => {
  const query = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), []);
  const isDark = useSignal(query.matches);
  useEffect(() => {
    const look = () => {
      isDark.value = query.matches;
    };
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, [query, isDark]);
  return isDark.value;
};

/** Click rates by day, as a chart and a table. */
export const DayChart = ({ days, arms, edited, timeZone }: DayChartProps) => {
  const box = useRef<HTMLDivElement>(null);
  /** Whether the chart is drawn. If the library failed to load, the table is open instead. */
  const isDrawn = useSignal(true);
  const isDark = useDarkPage();
  const shown = useMemo(() => arms.filter(({ variantId }) => variantId !== null), [arms]);
  const dates = useMemo(() => [...new Set(days.map(({ day }) => day))], [days]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are those of the page, light or dark
  useEffect(() => {
    const drawn = drawChart(box.current!, { days, dates, arms: shown, edited });
    drawn.then(
      () => {
        isDrawn.value = true;
      },
      () => {
        isDrawn.value = false;
      },
    );
    return () =>
      void drawn.then(
        (remove) => remove(),
        () => undefined,
      );
  }, [days, dates, shown, edited, isDark]);

  return (
    <>
      <p class="muted">
        People who clicked on a day, as a share of those who saw it then (days in {timeZone}). A click after
        midnight counts on the next day. Where more clicked than saw it there is no share.
        {edited.length > 0 && ' Lines mark edits.'}
      </p>
      <ul class="row chart-names" aria-hidden="true" hidden={!isDrawn.value}>
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
      <div class="chart" ref={box} aria-hidden="true" hidden={!isDrawn.value} />
      <details class="more" open={!isDrawn.value}>
        <summary>Show as table</summary>
        <DataTable
          label="Day by day"
          rows={dates}
          keyOf={(day) => day}
          columns={[
            {
              name: 'Day',
              kind: 'head',
              cell: (day) => (edited.includes(day) ? `${dayText(day)}, changed` : dayText(day)),
            },
            ...shown.map(
              ({ variantId, name }): Column<string> => ({
                name,
                id: variantId!,
                kind: 'number',
                cell: (day) => {
                  const { clicked, exposed } = getCounts(days, day, variantId);
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
