import { render } from 'preact';
import { act } from 'preact/test-utils';
import { expect, test } from 'vitest';
import { NO_COUNTS } from '../../../src/protocol/index.ts';
import { DayChart } from '../../../src/studio/pages/results/day-chart.tsx';

const goal = (converted: number) => ({ converted, revenue: 0, revenueSumOfSquares: 0 });
const arm = (variantId: string | null, name: string) => ({
  ...NO_COUNTS,
  variantId,
  name,
  share: 50,
  goals: [],
});
const day = (date: string, variantId: string | null, converted: number) => ({
  ...NO_COUNTS,
  exposed: 5,
  day: date,
  variantId,
  goals: [goal(1), goal(converted)],
});

test('the chart shows the users of a goal by day, including the control group', async () => {
  render(
    <DayChart
      days={[day('2026-03-01', 'a', 4), day('2026-03-02', 'a', 6), day('2026-03-02', null, 3)]}
      arms={[arm('a', 'Kiln'), arm(null, 'Control group')]}
      goals={[
        { event: 'signed_up', within_hours: 24 },
        { product: 'teapot', within_hours: 24 },
      ]}
      edited={[]}
      timeZone="UTC"
    />,
    document.body,
  );
  const cells = () =>
    [...document.querySelectorAll('tr')].map((row) =>
      [...row.querySelectorAll('th, td')].map((cell) => cell.textContent),
    );
  expect(cells()[0]).toEqual(['Day', 'Kiln']);
  await act(() => document.querySelector<HTMLInputElement>('[value="goal 1"]')!.click());
  expect(cells()).toEqual([
    ['Day', 'Kiln', 'Control group'],
    ['1 Mar', '4', '–'],
    ['2 Mar', '6', '3'],
  ]);
});
