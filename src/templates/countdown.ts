import type { Banner, Slot } from '../client/index.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../protocol/index.ts';
import { buildElement } from './build-element.ts';
import { CARD } from './card.ts';
import { type TemplateEntry, text } from './catalogue.ts';
import { getText, LIMITS, ownValue } from './content.ts';
import { frameProperties, MESSAGE_NEEDED, messageProperties } from './properties.ts';
import type { TemplateDefinition } from './template.ts';

/** Interval between checks after the end of the countdown. */
const LOOK_AGAIN_MS = 5 * SECOND_MS;
/** Units of the remaining time, largest first. */
const UNITS = [
  ['day', 1_440 * MINUTE_MS],
  ['hour', 60 * MINUTE_MS],
  ['minute', MINUTE_MS],
  ['second', SECOND_MS],
] as const;

/** `Intl.DurationFormat` is missing in some supported engines and TypeScript versions. */
type Durations = new (
  language: string[],
  options: { style: string },
) => { format(duration: Record<string, number>): string };

/** Formats a duration such as `2 days, 3 hr, 4 min, 5 sec` in a language. Omits leading zero units. */
const durationText = (
  leftMs: number,
  units: typeof UNITS | readonly (typeof UNITS)[number][],
  language: string[],
) => {
  let rest = leftMs;
  const counts = units.map(([unit, ms]) => {
    const count = Math.floor(rest / ms);
    rest -= count * ms;
    return { unit, count };
  });
  const first = counts.findIndex(({ count }) => count > 0);
  const shown = counts.slice(first);
  const { DurationFormat } = Intl as { DurationFormat?: Durations };
  if (DurationFormat) {
    const duration = Object.fromEntries(shown.map(({ unit, count }) => [`${unit}s`, count]));
    return new DurationFormat(language, { style: 'short' }).format(duration);
  }
  return shown
    .map(({ unit, count }) =>
      new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' }).format(count),
    )
    .join(', ');
};

/**
 * Returns the valid language of the banner, otherwise of the page; an empty list if it is invalid, because `Intl` would throw.
 */
const getLanguages = (banner: Banner, { element }: Slot): string[] => {
  const named = ownValue(banner, 'language', 'string') ?? element.ownerDocument.documentElement.lang;
  try {
    return Intl.getCanonicalLocales(String(named || []));
  } catch {
    // Falls back to the user's locale.
    return [];
  }
};

/**
 * Timer until a moment by the service's clock. Updates every second, or every minute with reduced motion. Screen readers can read
 * it at any time, and announce only the end.
 */
const timer = (banner: Banner, slot: Slot): HTMLElement | null => {
  const until = ownValue(banner, 'countdown_to', 'datetime');
  if (typeof until !== 'number' || !Number.isFinite(until)) return null;
  const document = slot.element.ownerDocument;
  const left = buildElement(document, 'span', { role: 'timer', class: 'left' });
  const over = buildElement(document, 'span', { role: 'status', class: 'over' });
  const isCalm = document.defaultView?.matchMedia?.('(prefers-reduced-motion: reduce)').matches ?? false;
  const units = isCalm ? UNITS.slice(0, -1) : UNITS;
  const stepMs = isCalm ? MINUTE_MS : SECOND_MS;
  const language = getLanguages(banner, slot);
  let next: ReturnType<typeof setTimeout> | undefined;
  const tick = () => {
    const leftMs = until - slot.now();
    const isOver = leftMs <= 0;
    if (isOver !== left.hidden) {
      left.hidden = isOver;
      over.textContent = isOver ? getText(banner, 'countdown_ended_text', LIMITS.countdown_ended_text) : '';
    }
    // Rounds up, so that the last second shows as 1 and the countdown ends at zero.
    if (!isOver) left.textContent = durationText(Math.ceil(leftMs / stepMs) * stepMs, units, language);
    // The device's clock may be wrong until the first response corrects it.
    next = setTimeout(tick, isOver ? LOOK_AGAIN_MS : Math.min(leftMs, leftMs % stepMs || stepMs));
  };
  tick();
  slot.signal.addEventListener('abort', () => clearTimeout(next));
  return buildElement(document, 'p', { class: 'time' }, [left, over]);
};

/** Card with a countdown. */
export const COUNTDOWN: TemplateDefinition = {
  base: CARD,
  dismissible: true,
  part: timer,
  css: /* css */ `
/* Reserves one line, so that the end causes no layout shift. */
.countdown .time { min-block-size: 1.5em; font-size: 1.25rem; font-variant-numeric: tabular-nums; font-weight: 650; line-height: 1.5; }
`,
};

export const countdownEntry = () =>
  ({
    name: 'countdown',
    label: 'Countdown',
    properties: [
      ...messageProperties(),
      {
        name: 'countdown_to',
        type: 'datetime',
        input: 'moment',
        label: 'Countdown end',
        help: 'Template countdown only.',
      },
      {
        name: 'countdown_ended_text',
        type: 'string',
        input: 'line',
        label: 'Text after the countdown',
        help: 'Shown when the countdown ends.',
        most: LIMITS.countdown_ended_text,
        translation: 'needed',
      },
      ...frameProperties(),
    ],
    needed: MESSAGE_NEEDED,
    width: 420,
    heights: { narrow: '21.5rem', wide: '21.5rem' },
    imageRatio: [16, 10],
    starters: [
      {
        name: 'Countdown',
        summary: 'Counts down to a time, then shows another text.',
        properties: (nowMs: number) => ({
          headline: text('The sale ends soon'),
          // On the full hour in three days.
          countdown_to: {
            type: 'datetime',
            value: new Date(Math.ceil(nowMs / HOUR_MS) * HOUR_MS + 72 * HOUR_MS).toISOString(),
          },
          countdown_ended_text: text('The sale is over'),
          button_text: text('Shop sale'),
          link: text('/'),
          theme: text('accent'),
        }),
      },
    ],
  }) as const satisfies TemplateEntry;
