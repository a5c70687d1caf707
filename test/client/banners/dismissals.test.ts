import { expect, test } from 'vitest';
import { addDismissals, emptyRecord } from '../../../src/client/banners/user-record.ts';
import { buildBanner } from '../../helpers/a-banner.ts';

test('removes the banner from the record and stores each dismissal once', () => {
  const record = emptyRecord();
  record.banners.set('home_hero', { banner: buildBanner(), fetchedAtMs: 1 });
  const dismissal = { placementId: 'home_hero', bannerId: 'bnr-1' };
  for (let i = 0; i < 2; i += 1) addDismissals(record, [dismissal]);
  expect(record.banners.get('home_hero')?.banner).toBeNull();
  expect(record.dismissed).toEqual([{ ...dismissal, acceptedAtMs: null }]);
});

test('contract 7.5: drops the oldest of more than 100 dismissals', () => {
  const record = emptyRecord();
  const dismissals = Array.from({ length: 150 }, (_, i) => ({ placementId: 'p', bannerId: `b${i}` }));
  addDismissals(record, dismissals);
  expect(record.dismissed.map(({ bannerId }) => bannerId)).toEqual(
    dismissals.slice(50).map(({ bannerId }) => bannerId),
  );
});
