// The option `shouldShow`: the host decides when a banner may appear. A blocked banner is neither drawn nor counted.
import { expect, test, vi } from 'vitest';
import { createFakeService, buildBanner as wire } from '../../src/testing/index.ts';
import { aSlot, draw, open, PATIENCE, stagePages } from './pages.ts';

stagePages();

const aControl = () =>
  createFakeService({ banners: { home_hero: wire('home_hero', {}, { id: 'bnr-1', is_control: true }) } });

test('keeps the slot empty and uncounted after false until the host calls reevaluate()', async () => {
  let isDialogOpen = true;
  const shouldShow = vi.fn(() => !isDialogOpen);
  const { placard, heard, of } = open({ shouldShow });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('hidden');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(of('hidden').map(({ reason }) => reason)).toEqual(['blocked']);
  expect(element.textContent).toBe('');
  expect(of('tracked')).toEqual([]);
  // Once per banner, regardless of how often the slots are checked.
  expect(shouldShow.mock.calls).toEqual([
    [expect.objectContaining({ id: 'bnr-1' }), { element, placementId: 'home_hero' }],
  ]);

  isDialogOpen = false;
  placard.reevaluate();
  expect(element.textContent).toBe('Summer sale');
  await heard('tracked');
  placard.reevaluate();
  expect(shouldShow).toHaveBeenCalledTimes(2);
});

test('does not count a blocked control banner as seen', async () => {
  let mayCount = false;
  const { placard, heard, of } = open({ service: aControl(), shouldShow: () => mayCount });
  placard.mount('home_hero', aSlot(), draw);
  await heard('hidden');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(of('tracked')).toEqual([]);
  mayCount = true;
  placard.reevaluate();
  await heard('tracked');
});

test('waits for a promise, and runs again on refresh()', async () => {
  let answer: (may: boolean) => void = () => undefined;
  const shouldShow = () => new Promise<boolean>((resolve) => (answer = resolve));
  const { placard, heard, of } = open({ shouldShow });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('synced');
  expect(element.textContent).toBe('');
  answer(false);
  await heard('hidden');
  const refreshed = placard.refresh();
  await vi.waitFor(() => {
    answer(true);
    expect(of('shown')).toHaveLength(1);
  }, PATIENCE);
  await refreshed;
  expect(element.textContent).toBe('Summer sale');
});

test('runs again for a slot that is mounted again', async () => {
  const shouldShow = vi.fn(() => false);
  const { placard, heard } = open({ shouldShow });
  const unmount = placard.mount('home_hero', aSlot(), draw);
  await heard('hidden');
  unmount();
  placard.mount('home_hero', aSlot(), draw);
  expect(shouldShow).toHaveBeenCalledTimes(2);
});

const broken = {
  throws: () => {
    throw new Error('the dialog is gone');
  },
  rejects: async () => {
    throw new Error('the dialog is gone');
  },
  'is not a function': 'yes' as unknown as () => boolean,
};
test.each(Object.entries(broken))(
  'keeps the slot empty if it %s, and emits a notice, because the host may have a reason to block',
  async (_, shouldShow) => {
    vi.spyOn(console, 'error').mockReturnValue(undefined);
    const { placard, heard, of } = open({ shouldShow });
    const element = aSlot();
    placard.mount('home_hero', element, draw);
    await heard('hidden');
    expect(element.textContent).toBe('');
    expect(of('hidden')[0]).toMatchObject({ reason: 'blocked' });
    expect(of('failed')).toContainEqual(
      expect.objectContaining({ kind: 'hook', message: 'shouldShow() of "home_hero" threw' }),
    );
  },
);

test('emits a notice after ten seconds if it never settles, and leaves no timers', async () => {
  const { placard, heard, of } = open({ shouldShow: () => new Promise<boolean>(() => undefined) });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('synced');
  await vi.advanceTimersByTimeAsync(10_000);
  const message = 'shouldShow() of "home_hero" is still pending after 10000 ms: no banner is shown';
  expect(of('failed')).toMatchObject([{ kind: 'hook', message }]);
  expect(element.textContent).toBe('');
  placard.reevaluate();
  placard.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(of('failed')).toHaveLength(1);
});

test('shows the banner on any other result', async () => {
  const { placard, heard } = open({ shouldShow: (() => undefined) as unknown as () => boolean });
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
});
