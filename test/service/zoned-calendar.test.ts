import { describe, expect, test } from 'vitest';
import { createZonedCalendar } from '../../src/service/zoned-calendar.ts';

const at = (text: string) => Date.parse(text);

describe('a date in a time zone', () => {
  test.each([
    ['UTC', '2026-03-01T23:59:59.999Z', '2026-03-01'],
    ['Europe/Berlin', '2026-03-01T22:59:59.999Z', '2026-03-01'],
    ['Europe/Berlin', '2026-03-01T23:00:00Z', '2026-03-02'],
    ['America/Los_Angeles', '2026-03-01T07:59:00Z', '2026-02-28'],
    ['Asia/Kathmandu', '2026-03-01T18:14:59Z', '2026-03-01'],
    ['Asia/Kathmandu', '2026-03-01T18:15:00Z', '2026-03-02'],
    ['Pacific/Kiritimati', '2026-03-01T10:00:00Z', '2026-03-02'],
    ['UTC', '0987-01-02T00:00:00Z', '0987-01-02'],
  ])('in %s at %s is %s', (timeZone, instant, day) => {
    expect(createZonedCalendar(timeZone).toDay(at(instant))).toBe(day);
  });

  test('requires a known time zone', () => {
    expect(() => createZonedCalendar('Mars/Olympus')).toThrow(RangeError);
  });
});

describe('the start of a date', () => {
  test.each([
    ['UTC', '2026-03-01', '2026-03-01T00:00:00Z'],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00Z'],
    ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00:00Z'],
    ['Asia/Kathmandu', '2026-03-02', '2026-03-01T18:15:00Z'],
    ['Pacific/Kiritimati', '2026-03-02', '2026-03-01T10:00:00Z'],
    ['Pacific/Pago_Pago', '2026-03-02', '2026-03-02T11:00:00Z'],
    // Clocks go forward from midnight to 01:00.
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00Z'],
    // Clocks go back from midnight to 23:00, so the day before has 25 hours.
    ['America/Santiago', '2026-04-05', '2026-04-05T04:00:00Z'],
  ])('in %s of %s is %s', (timeZone, day, instant) => {
    const days = createZonedCalendar(timeZone);
    const start = days.startOf(day);
    expect(new Date(start).toISOString()).toBe(new Date(at(instant)).toISOString());
    expect([days.toDay(start), days.toDay(start - 1)]).toEqual([day, expect.not.stringMatching(day)]);
  });
});
