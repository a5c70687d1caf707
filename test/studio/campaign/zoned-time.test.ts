import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromZoned, toZoned } from '../../../src/studio/campaign/zoned-time.ts';

describe('a date field in a time zone', () => {
  test.each([
    ['2026-03-02T08:00:00Z', 'Europe/Berlin', '2026-03-02T09:00'],
    ['2026-07-02T08:00:00Z', 'Europe/Berlin', '2026-07-02T10:00'],
    ['2026-03-02T23:30:00-05:00', 'Asia/Kolkata', '2026-03-03T10:00'],
    ['2026-01-01T00:00:00Z', 'Pacific/Chatham', '2026-01-01T13:45'],
  ])('shows %s in %s as %s', (iso, zone, shown) => expect(toZoned(iso, zone)).toBe(shown));

  test.each([
    ['2026-03-02T09:00', 'Europe/Berlin', '2026-03-02T09:00:00+01:00'],
    ['2026-07-02T09:00', 'Europe/Berlin', '2026-07-02T09:00:00+02:00'],
    ['2026-07-02T09:00', 'America/St_Johns', '2026-07-02T09:00:00-02:30'],
    ['2026-07-02T09:00', 'UTC', '2026-07-02T09:00:00+00:00'],
  ])('reads %s in %s as %s', (text, zone, iso) => expect(fromZoned(text, zone)).toBe(iso));

  test('rejects a time in the hour skipped in spring', () => {
    expect(fromZoned('2026-03-29T02:30', 'Europe/Berlin')).toBeNull();
    expect(fromZoned('2026-03-29T03:00', 'Europe/Berlin')).toBe('2026-03-29T03:00:00+02:00');
  });

  test('uses the first of two equal hours in autumn', () => {
    expect(fromZoned('2026-10-25T02:30', 'Europe/Berlin')).toBe('2026-10-25T02:30:00+02:00');
  });

  test.each(['', '2026-03', 'tomorrow'])('treats %j as invalid', (text) => {
    expect(fromZoned(text, 'Europe/Berlin')).toBeNull();
  });

  test.each([
    '0002-12-10T10:00',
    '0020-12-10T10:00',
    '0202-12-10T10:00',
    '1999-12-31T23:59',
    '3000-01-01T00:00',
  ])('treats %s as an incomplete or mistyped year', (text) =>
    expect(fromZoned(text, 'Europe/Berlin')).toBeNull(),
  );

  test('shows an empty field for an invalid date', () => {
    expect(toZoned('1899-12-11T10:00:00+33283824:53', 'Europe/Berlin')).toBe('');
  });

  test('round-trips a time in any time zone', () => {
    const minutes = fc.integer({ min: 0, max: 60 * 24 * 365 * 3 });
    const zones = fc.constantFrom(
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kolkata',
      'Australia/Lord_Howe',
      'UTC',
    );
    fc.assert(
      fc.property(minutes, zones, (minute, zone) => {
        const ms = Date.UTC(2026, 0, 1) + minute * 60_000;
        const shown = toZoned(new Date(ms).toISOString(), zone);
        const back = Date.parse(fromZoned(shown, zone)!);
        // For an hour that occurs twice, the first is used.
        expect([ms, ms - 3_600_000, ms - 1_800_000]).toContain(back);
        expect(toZoned(new Date(back).toISOString(), zone)).toBe(shown);
      }),
    );
  });
});
