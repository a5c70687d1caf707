const FIELDS = ['year', 'month', 'day', 'hour', 'minute'] as const;

/** Years that a campaign can mean. A date field says 0002 while its year is typed, and `Date.UTC` takes 2 for 1902. */
const MIN_YEAR = 2000;
const MAX_YEAR = 2999;

/** What the clocks of a time zone show, as minutes since 1970 would be written there. */
const wallMs = (ms: number, timeZone: string): number => {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(ms);
  const [year, month, day, hour, minute] = FIELDS.map((type) =>
    Number(parts.find((part) => part.type === type)?.value),
  );
  return Date.UTC(year!, month! - 1, day, hour, minute);
};

/** `2026-03-02T09:00`, as a date field wants it: what the clocks of the zone show then. `''` for what is no date. */
export const toZoned = (iso: string, timeZone: string): string => {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? '' : new Date(wallMs(ms, timeZone)).toISOString().slice(0, 16);
};

const MINUTE_MS = 60_000;
const LOCAL = /^(\d{4})-\d\d-\d\dT\d\d:\d\d$/;

/**
 * The moment at which the clocks of the zone show this, with the zone's offset then: `2026-03-02T09:00:00+01:00`. `null`
 * for no date, for a year outside of 2000 to 2999, and in an hour that the clocks skip. Of an hour that they show twice it is the first.
 */
export const fromZoned = (text: string, timeZone: string): string | null => {
  // V8 finds a date in many a text.
  const year = Number(LOCAL.exec(text)?.[1]);
  if (!(year >= MIN_YEAR && year <= MAX_YEAR)) return null;
  const wanted = Date.parse(`${text}:00Z`);
  if (Number.isNaN(wanted)) return null;
  // The offset at the moment itself may be another than a day before or after: the clocks may change in between.
  const offsets = [wanted - 86_400_000, wanted + 86_400_000].map((ms) => wallMs(ms, timeZone) - ms);
  const fits = offsets.map((offset) => wanted - offset).filter((ms) => wallMs(ms, timeZone) === wanted);
  if (fits.length === 0) return null;
  const ms = Math.min(...fits);
  const minutes = Math.round((wallMs(ms, timeZone) - ms) / MINUTE_MS);
  const pad = (number: number) => String(Math.abs(number)).padStart(2, '0');
  const sign = minutes < 0 ? '-' : '+';
  const offset = `${sign}${pad(Math.trunc(minutes / 60))}:${pad(minutes % 60)}`;
  return `${new Date(ms + minutes * MINUTE_MS).toISOString().slice(0, 19)}${offset}`;
};
