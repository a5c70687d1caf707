import { within } from '@testing-library/dom';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { choice, countdown } from '../../src/templates/index.ts';
import { drawnIn, getBanner, recordingSlot } from '../helpers/template-slot.ts';

const END = Date.UTC(2026, 2, 1, 12, 0, 0);
const until = (ms: number) => ({ type: 'datetime', value: END + ms });

beforeEach(() => {
  vi.useFakeTimers({ now: END });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  document.body.replaceChildren();
});

const draw = (values: Parameters<typeof getBanner>[0], clockAheadMs = 0) => {
  const recorded = recordingSlot({ now: () => Date.now() + clockAheadMs });
  countdown(getBanner({ headline: 'Sale', countdown_ended_text: 'It is over.', ...values }), recorded.slot);
  return { ...recorded, panel: within(drawnIn(recorded.slot.element)) };
};

describe('the countdown', () => {
  test('shows the time left every second, and announces the end once', () => {
    const { panel } = draw({ countdown_to: until(3_000), language: 'en' });
    const timer = panel.getByRole('timer');
    expect(timer.textContent).toBe('3 sec');
    vi.advanceTimersByTime(1_000);
    expect(timer.textContent).toBe('2 sec');
    const said = panel.getByRole('status');
    expect(said.textContent).toBe('');
    vi.advanceTimersByTime(2_000);
    expect(panel.queryByRole('timer')).toBeNull();
    expect(said.textContent).toBe('It is over.');
  });

  test('hides an end shown under a wrong clock, and shows it again at the correct time', () => {
    let aheadMs = 3_600_000;
    const { slot } = recordingSlot({ now: () => Date.now() + aheadMs });
    const values = {
      headline: 'Sale',
      countdown_to: until(8_000),
      countdown_ended_text: 'It is over.',
      language: 'en',
    };
    countdown(getBanner(values), slot);
    const panel = within(drawnIn(slot.element));
    expect(panel.queryByRole('timer')).toBeNull();
    expect(panel.getByRole('status').textContent).toBe('It is over.');
    aheadMs = 0;
    vi.advanceTimersByTime(5_000);
    expect(panel.getByRole('timer').textContent).toBe('3 sec');
    expect(panel.getByRole('status').textContent).toBe('');
    vi.advanceTimersByTime(3_000);
    expect(panel.queryByRole('timer')).toBeNull();
    expect(panel.getByRole('status').textContent).toBe('It is over.');
  });

  test('announces the end to a screen reader once, after any number of updates', async () => {
    const { panel } = draw({ countdown_to: until(-1) });
    const changes: unknown[] = [];
    const observer = new MutationObserver((records) => changes.push(...records));
    observer.observe(panel.getByRole('status'), { childList: true, characterData: true, subtree: true });
    await vi.advanceTimersByTimeAsync(60_000);
    observer.disconnect();
    expect(changes).toEqual([]);
  });

  test('truncates its end text with an ellipsis without splitting a character', () => {
    const { panel } = draw({ countdown_to: until(-1), countdown_ended_text: `x${'🎉'.repeat(200)}` });
    expect(panel.getByRole('status').textContent).toBe(`x${'🎉'.repeat(159)}…`);
  });

  test('follows the service’s clock on a device an hour behind', () => {
    const { panel } = draw({ countdown_to: until(3_600_000 + 5_000), language: 'en' }, 3_600_000);
    expect(panel.getByRole('timer').textContent).toBe('5 sec');
  });

  test('uses the language of the banner, with days and the engine’s or the template’s own words', () => {
    const twoDays = { countdown_to: until(2 * 86_400_000 + 3_600_000), language: 'de' };
    const whole = draw(twoDays).panel.getByRole('timer').textContent;
    expect(whole).toMatch(/^2 Tg?\.?.*1 Std\./);
    document.body.replaceChildren();
    vi.stubGlobal('Intl', {
      ...Intl,
      NumberFormat: Intl.NumberFormat,
      getCanonicalLocales: Intl.getCanonicalLocales,
      DurationFormat: undefined,
    });
    expect(draw(twoDays).panel.getByRole('timer').textContent).toMatch(/^2 Tg?\.?.*1 Std\./);
  });

  test('updates by the minute for users who prefer reduced motion', () => {
    vi.stubGlobal('matchMedia', (query: string) => ({ matches: query.includes('reduce') }));
    const { panel } = draw({ countdown_to: until(150_000), language: 'en' });
    const timer = panel.getByRole('timer');
    expect(timer.textContent).toBe('3 min');
    vi.advanceTimersByTime(29_000);
    expect(timer.textContent).toBe('3 min');
    vi.advanceTimersByTime(1_000);
    expect(timer.textContent).toBe('2 min');
  });

  test('stops when its banner leaves the slot', () => {
    const { controller } = draw({ countdown_to: until(60_000) });
    controller.abort();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('renders a card without a time, and accepts any time and language', () => {
    expect(draw({}).panel.queryByRole('timer')).toBeNull();
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '2026-03-01', null]) {
      document.body.replaceChildren();
      expect(draw({ countdown_to: { type: 'datetime', value } }).panel.queryByRole('timer')).toBeNull();
    }
    document.body.replaceChildren();
    expect(
      draw({ countdown_to: until(-1), language: 'no language!' }).panel.getByText('It is over.'),
    ).toBeTruthy();
    document.body.replaceChildren();
    draw({ countdown_to: until(1_000), language: 'no language!' }).panel.getByRole('timer');
  });
});

describe('the choice', () => {
  const TWO = {
    headline: 'Tea or coffee?',
    button_text: 'Tea',
    link: '/tea',
    secondary_button_text: 'Coffee',
    secondary_link: '/coffee',
  };

  test('renders two links of equal rank, without a link around the banner', () => {
    const { slot, calls } = recordingSlot();
    choice(getBanner(TWO), slot);
    const links = within(drawnIn(slot.element)).getAllByRole('link');
    expect(links.map((each) => [each.textContent, each.getAttribute('href')])).toEqual([
      ['Tea', '/tea'],
      ['Coffee', '/coffee'],
    ]);
    expect(links.some((each) => each.classList.contains('stretched-link'))).toBe(false);
    for (const link of links) link.click();
    expect(calls.filter((each) => each.startsWith('click'))).toEqual(['click link', 'click secondary_link']);
  });

  test('renders a card with one button if the second has no text or no safe link', () => {
    for (const change of [
      { secondary_link: '' },
      { secondary_button_text: '' },
      { secondary_link: 'javascript:alert(1)' },
    ]) {
      document.body.replaceChildren();
      const { slot } = recordingSlot();
      choice(getBanner({ ...TWO, ...change }), slot);
      const links = within(drawnIn(slot.element)).getAllByRole('link');
      expect(links).toHaveLength(1);
      expect(links[0]!.classList.contains('stretched-link')).toBe(true);
    }
  });

  test('links its headline, not the whole banner, if the first button has no text', () => {
    const { slot } = recordingSlot();
    choice(getBanner({ ...TWO, button_text: '' }), slot);
    const links = within(drawnIn(slot.element)).getAllByRole('link');
    expect(links.map((each) => each.textContent)).toEqual(['Tea or coffee?', 'Coffee']);
    expect(links.some((each) => each.classList.contains('stretched-link'))).toBe(false);
  });

  test('uses the host’s navigation', () => {
    const { slot } = recordingSlot();
    choice.with({ dismissLabel: 'Weg' })(getBanner(TWO), slot);
    within(drawnIn(slot.element)).getByRole('button', { name: 'Weg' });
  });
});
