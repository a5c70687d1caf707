import type { Banner } from '../client/index.ts';

/** Tone of a sentence, shown as a color. The text also conveys the tone. */
export type Tone = 'good' | 'wait' | 'bad' | 'plain';

export interface Sentence {
  text: string;
  tone: Tone;
}

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [24 * 60 * 60_000, 'd'],
  [60 * 60_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** Formats a duration in its largest unit, such as `3 min`, without line breaks. */
const duration = (ms: number): string => {
  const [unitMs, name] = UNITS.find(([unit]) => ms >= unit) ?? UNITS.at(-1)!;
  return `${Math.floor(ms / unitMs)}\u00a0${name}`;
};

/** Formats a time relative to now: `3 min ago`, or `in 3 min`. */
export const relativeTime = (at: number, now: number): string => {
  if (at > now) return `in ${duration(at - now + 999)}`;
  return now - at < 1_000 ? 'just now' : `${duration(now - at)} ago`;
};

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
export const clockTime = (at: number): string => CLOCK.format(at);

/** Returns a display name of a banner: its headline, otherwise its first text, otherwise its ID. */
export const getBannerName = (banner: Banner): string => {
  const { headline, ...others } = banner.properties;
  const text = [headline, ...Object.values(others)].find(
    (property) => property?.type === 'string' && property.value !== '',
  );
  return text ? String(text.value) : banner.id;
};
