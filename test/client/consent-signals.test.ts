import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Placard } from '../../src/client/index.ts';
import { examplesIn } from '../helpers/document-examples.ts';
import { aSlot, draw, open, PATIENCE, stagePages } from './pages.ts';

stagePages();
afterEach(() => vi.unstubAllGlobals());

describe('consent: gpc', () => {
  test('disables consent if the browser sends the signal, until the host enables it', async () => {
    vi.stubGlobal('navigator', Object.create(navigator, { globalPrivacyControl: { value: true } }));
    const { placard, service } = open({ consent: 'gpc' });
    const element = aSlot();
    placard.mount('home_hero', element, draw);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(element.textContent).toBe('');
    expect(service.requests).toEqual([]);
    await placard.enable();
    await vi.waitFor(() => expect(element.textContent).toBe('Summer sale'), PATIENCE);
  });

  test('enables consent if the browser does not send the signal', async () => {
    const { placard } = open({ consent: 'gpc' });
    const element = aSlot();
    placard.mount('home_hero', element, draw);
    await vi.waitFor(() => expect(element.textContent).toBe('Summer sale'), PATIENCE);
  });
});

describe('consent dialog recipe', () => {
  const [recipe] = examplesIn('docs/guides/web.md').filter(({ use }) => use === 'consent');

  /** A consent dialog per the TCF: it calls its listener on each change. */
  const follow = (placard: Placard) => {
    let tell: (data: object, isSound: boolean) => void = () => undefined;
    const __tcfapi = (command: string, version: number, listener: typeof tell) => {
      expect([command, version]).toEqual(['addEventListener', 2]);
      tell = listener;
    };
    new Function('window', 'placard', recipe!.code)({ __tcfapi }, placard);
    return (eventStatus: string, isGiven: boolean, isSound = true) =>
      tell({ eventStatus, gdprApplies: true, purpose: { consents: { 1: isGiven } } }, isSound);
  };

  test('does not store or send anything until the user agrees, and removes everything if the user declines', async () => {
    const { placard, service, heard } = open({ consent: 'pending' });
    const answer = follow(placard);
    placard.mount('home_hero', aSlot(), draw);
    await heard('tracked');
    answer('cmpuishown', true);
    answer('tcloaded', true, false);
    await placard.flush();
    expect(service.events).toEqual([]);
    answer('useractioncomplete', true);
    await vi.waitFor(async () => {
      await placard.flush();
      expect(service.events).toHaveLength(1);
    }, PATIENCE);
    answer('useractioncomplete', false);
    await vi.waitFor(() => expect(localStorage).toHaveLength(0), PATIENCE);
    await placard.track(placard.banner('home_hero')!, 'click').catch(() => null);
    await placard.flush();
    expect(service.events).toHaveLength(1);
  });
});
