/** Date, time to at least the minute, and the offset without which it would be no instant. */
const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s?(?:[Zz]|([+-])(\d\d):?(\d\d))$/;
const MINUTE_MS = 60_000;

/** Unix milliseconds of an ISO 8601 instant, or `null`; a day that its month does not have is no instant. */
export const instantOf = (text: string): number | null => {
  const parts = INSTANT.exec(text);
  if (!parts) return null;
  const [, year, month, day, hour, minute, second = '0', fraction = '', sign, offsetHours, offsetMinutes] =
    parts;
  const millis = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  // A leap second counts as the one before it.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  if (Number(offsetHours ?? 0) > 23 || Number(offsetMinutes ?? 0) > 59) return null;
  date.setUTCHours(Number(hour), Number(minute), Math.min(Number(second), 59), millis);
  const offset = (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0)) * MINUTE_MS;
  return date.getTime() - (sign === '-' ? -offset : offset);
};
