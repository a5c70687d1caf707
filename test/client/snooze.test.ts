// `slot.snooze()` hides a banner for some hours on this device, without a request to the server.
import { expect, test, vi } from 'vitest';
import type { Slot } from '../../src/client/index.ts';
import { TRACK_PATH } from '../../src/protocol/index.ts';
import { createFakeService, buildBanner as wire } from '../../src/testing/index.ts';
import { aProfile, aSlot, draw, open, someChannels, stagePages } from './pages.ts';

stagePages();

const HOUR_MS = 3_600_000;
const snoozable = (longest: number) => wire('home_hero', { max_snooze_hours: longest }, { id: 'bnr-1' });

/** A page that shows the banner, and the slot that its hook received. */
const aPage = async ({
  longest = 48,
  ...options
}: Parameters<typeof open>[0] & { longest?: number } = {}) => {
  const service = options.service ?? createFakeService({ banners: { home_hero: snoozable(longest) } });
  const page = open({ ...options, service });
  const element = aSlot();
  let slot: Slot | undefined;
  page.placard.mount('home_hero', element, (banner, given) => {
    slot = given;
    return draw(banner, given);
  });
  await page.heard('tracked');
  return { ...page, service, element, slot: slot! };
};

test('a snooze hides the banner at once and does not send an event', async () => {
  const { slot, element, placard, service, of } = await aPage();
  const snoozed = slot.snooze(24);
  expect(element.textContent).toBe('');
  expect(placard.banner('home_hero')).toBeNull();
  await snoozed;
  await placard.flush();
  expect(of('hidden').map(({ reason }) => reason)).toEqual(['dismissed']);
  const sent = service.requests.filter(({ path }) => path === TRACK_PATH);
  expect(JSON.stringify(sent)).toContain('impression');
  expect(JSON.stringify(sent)).not.toContain('dismiss');
});

test('a snooze survives a reload without a network, and the banner returns after its hours without a sync', async () => {
  const first = await aPage();
  await first.slot.snooze(24);
  first.placard.stop();
  first.service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });

  const second = open({ service: first.service, openStore: first.openStore });
  const element = aSlot();
  second.placard.mount('home_hero', element, draw);
  await second.heard('hidden');
  expect(element.textContent).toBe('');
  second.placard.stop();

  vi.setSystemTime(Date.now() + 25 * HOUR_MS);
  const third = open({ service: first.service, openStore: first.openStore });
  third.placard.mount('home_hero', aSlot(), draw);
  await third.heard('shown');
  expect(third.of('shown')[0]).toMatchObject({ from: 'cache', banner: { id: 'bnr-1' } });
});

test('a sync that still contains the banner does not end the snooze', async () => {
  const { slot, placard, of, heard } = await aPage();
  await slot.snooze(24);
  await placard.refresh();
  await heard('synced', 2);
  expect(placard.banner('home_hero')).toBeNull();
  expect(of('shown')).toHaveLength(1);
});

test('the campaign limits the duration of a snooze', async () => {
  const { slot, placard } = await aPage({ longest: 2 });
  await slot.snooze(1_000);
  vi.setSystemTime(Date.now() + 3 * HOUR_MS);
  expect(placard.banner('home_hero')?.id).toBe('bnr-1');
});

test.each([
  ['a campaign without snoozing', 0, 5],
  ['NaN hours', 48, Number.NaN],
  ['negative hours', 48, -1],
])('%s: keeps the banner and reports it in a notice', async (_, longest, hours) => {
  const { slot, placard, element, of } = await aPage({ longest });
  await slot.snooze(hours);
  expect(placard.banner('home_hero')?.id).toBe('bnr-1');
  expect(element.textContent).not.toBe('');
  expect(of('failed')).toMatchObject([
    { kind: 'config', message: expect.stringContaining('max_snooze_hours') },
  ]);
});

test('applies a snooze in other tabs of the user, but not for the next user of the device', async () => {
  const shared = { openStore: aProfile(), platform: { openChannel: someChannels() } };
  const one = await aPage(shared);
  const other = open({ ...shared, service: one.service });
  const element = aSlot();
  other.placard.mount('home_hero', element, draw);
  await other.heard('shown');
  await one.slot.snooze(24);
  await other.heard('hidden');
  expect(element.textContent).toBe('');

  await one.placard.identify('u-2');
  await one.heard('synced', 2);
  expect(one.placard.banner('home_hero')?.id).toBe('bnr-1');
});

test('counts the dismissal of a snoozed banner', async () => {
  const { slot, placard } = await aPage();
  await Promise.all([slot.snooze(24), slot.dismiss()]);
  vi.setSystemTime(Date.now() + 25 * HOUR_MS);
  expect(placard.banner('home_hero')).toBeNull();
});
