import { within } from '@testing-library/dom';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTemplates, type Navigate } from '../../src/templates/index.ts';
import { drawnIn, getBanner, recordingSlot } from '../helpers/template-slot.ts';

const drawn = (
  link: string,
  options: { holdClick?: boolean; native?: boolean; navigate?: Navigate } = {},
) => {
  const visited: string[] = [];
  const { navigate = (url: string) => visited.push(url) } = options;
  const { strip } = createTemplates(options.native ? {} : { navigate });
  const recording = recordingSlot(options);
  strip(getBanner({ headline: 'Linen', link }), recording.slot);
  const anchor = within(drawnIn(recording.slot.element)).getByRole('link');
  const press = (type: string, init: MouseEventInit = {}) => {
    const event = new MouseEvent(type, { bubbles: true, cancelable: true, composed: true, ...init });
    anchor.dispatchEvent(event);
    return event;
  };
  return { ...recording, visited, anchor, press };
};

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});
// happy-dom follows links unless prevented; the listener replaces the browser that would open a tab.
const stay = (event: Event) => event.preventDefault();
beforeEach(() => {
  window.addEventListener('click', stay);
  window.addEventListener('auxclick', stay);
  return () => {
    window.removeEventListener('click', stay);
    window.removeEventListener('auxclick', stay);
  };
});
afterEach(() => document.body.replaceChildren());

describe('a plain click on the link', () => {
  test('stores the click before the navigation', async () => {
    const { visited, calls, press, settleClick } = drawn('https://shop.example/linen', { holdClick: true });
    expect(press('click').defaultPrevented).toBe(true);
    expect(calls).toContain('click');
    await vi.advanceTimersByTimeAsync(100);
    expect(visited).toEqual([]);
    settleClick();
    await vi.advanceTimersByTimeAsync(0);
    expect(visited).toEqual(['https://shop.example/linen']);
  });

  test('navigates once, after 250 ms if storing takes longer', async () => {
    const { visited, press, settleClick } = drawn('https://shop.example/linen', { holdClick: true });
    press('click');
    await vi.advanceTimersByTimeAsync(249);
    expect(visited).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(visited).toEqual(['https://shop.example/linen']);
    settleClick();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(visited).toHaveLength(1);
  });

  test('counts a double click once', async () => {
    const { visited, calls, press, settleClick } = drawn('https://shop.example/linen', { holdClick: true });
    press('click');
    press('click');
    settleClick();
    await vi.advanceTimersByTimeAsync(300);
    expect(calls.filter((call) => call === 'click')).toHaveLength(1);
    expect(visited).toHaveLength(1);
  });

  test.each([true, false])(
    'navigates even if the host’s navigation throws (click stored in time: %s)',
    async (inTime) => {
      const mistake = new Error('no such route');
      const assign = vi.spyOn(window.location, 'assign').mockReturnValue();
      const told = vi.spyOn(console, 'error').mockReturnValue();
      const { press, settleClick } = drawn('https://shop.example/linen', {
        holdClick: true,
        navigate() {
          throw mistake;
        },
      });
      press('click');
      if (inTime) settleClick();
      await vi.advanceTimersByTimeAsync(300);
      expect(assign.mock.calls).toEqual([['https://shop.example/linen']]);
      expect(told.mock.calls).toEqual([[mistake]]);
      vi.restoreAllMocks();
    },
  );

  test('passes the unresolved link of the banner to the host', async () => {
    const { visited, press } = drawn('/linen?from=banner');
    press('click');
    await vi.advanceTimersByTimeAsync(0);
    expect(visited).toEqual(['/linen?from=banner']);
  });
});

describe('the browser handles', () => {
  test.each([
    ['Ctrl', { ctrlKey: true }],
    ['Cmd', { metaKey: true }],
    ['Shift', { shiftKey: true }],
  ])('a click with %s, which is counted', (_, init) => {
    const { visited, calls, press } = drawn('https://shop.example/linen');
    press('click', init);
    expect(calls.filter((call) => call === 'click')).toHaveLength(1);
    expect(visited).toEqual([]);
  });

  test('a middle click, which is counted, and a right click, which is not', () => {
    const { calls, press } = drawn('https://shop.example/linen');
    press('auxclick', { button: 1 });
    press('auxclick', { button: 2 });
    expect(calls.filter((call) => call === 'click')).toHaveLength(1);
  });

  test.each(['mailto:shop@example.org', 'tel:+4930123456', '#linen'])(
    '%s, which does not leave the page',
    (link) => {
      const assigned = vi.spyOn(window.location, 'assign');
      const { calls, press } = drawn(link, { native: true });
      press('click');
      expect(calls.filter((call) => call === 'click')).toHaveLength(1);
      vi.advanceTimersByTime(1_000);
      expect(assigned).not.toHaveBeenCalled();
      assigned.mockRestore();
    },
  );
});

test.each(['_top', '_blank'])('keeps the target %s of a page’s links and counts the click', (target) => {
  const base = document.createElement('base');
  base.target = target;
  document.head.append(base);
  const assigned = vi.spyOn(window.location, 'assign').mockReturnValue();
  const { calls, press } = drawn('https://shop.example/linen', { native: true });
  press('click');
  vi.advanceTimersByTime(1_000);
  expect(calls.filter((call) => call === 'click')).toHaveLength(1);
  expect(assigned).not.toHaveBeenCalled();
  assigned.mockRestore();
  base.remove();
});

test('does not count a click that the host already handled', () => {
  const { calls, anchor, press } = drawn('https://shop.example/linen');
  anchor.addEventListener('click', (event) => event.preventDefault(), { capture: true });
  press('click');
  expect(calls).not.toContain('click');
});

test('leaves no listener behind after the banner is removed', () => {
  const { calls, press, controller } = drawn('https://shop.example/linen');
  controller.abort();
  press('click');
  expect(calls).not.toContain('click');
});
