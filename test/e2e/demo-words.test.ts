import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { standing } from '../../demo/panel/ledger.ts';
import { sentence } from '../../demo/panel/sentences.ts';
import { announcement, startProblem } from '../../demo/server/announce.ts';
import { countResults } from '../../demo/server/results.ts';
import { readSettings, SettingsError } from '../../demo/server/settings.ts';
import { createFaults } from '../../demo/shop/faults.ts';
import { audienceWords } from '../../demo/studio/audience-words.ts';
import type { CampaignText } from '../../demo/studio/campaign-text.ts';
import { createDraft } from '../../demo/studio/draft.ts';
import { ruleWords, scheduleState, scheduleWords } from '../../demo/studio/schedule-words.ts';
import { verdictWords, whoWords } from '../../demo/studio/who-words.ts';
import type { Diagnostics } from '../../src/client/index.ts';
import { openStore } from '../../src/service/index.ts';
import { aBannerEvent, recordBannerEvents } from '../helpers/banner-events.ts';

const aCampaign = (changes: Partial<CampaignText> = {}): CampaignText => ({
  campaign_id: 'sale',
  status: 'active',
  placements: ['home_hero'],
  variants: [{ variant_id: 'a', properties: { headline: { type: 'string', value: 'Sale' } } }],
  ...changes,
});

describe('an audience in plain words', () => {
  test.each([
    [null, 'Everyone.'],
    [{}, 'Everyone.'],
    [
      { 'custom_attributes.tier': { $in: ['gold', 'platinum'] } },
      'Visitors of whom this is true: tier is gold or platinum.',
    ],
    [{ language: 'ar' }, 'Visitors of whom this is true: language is ar.'],
    [
      { $or: [{ 'purchases.teapot.count': { $gte: 1 } }, { 'events.viewed_product.count': { $gte: 3 } }] },
      'Visitors of whom this is true: bought the teapot, or did “viewed product” 3 times or more.',
    ],
    [
      { 'events.cart_abandoned.last_days_ago': { $lte: 7 }, email_subscribe: { $ne: 'unsubscribed' } },
      'Visitors of whom this is true: did “cart abandoned” in the last 7 days; and email subscribe is not unsubscribed.',
    ],
    [{ $nor: [{ country: 'PL' }] }, 'Visitors of whom this is true: not: country is PL.'],
    [
      { 'custom_attributes.name': { $regex: '^A' } },
      'Visitors of whom this is true: name fits {"$regex":"^A"}.',
    ],
  ])('%j', (audience, words) => {
    expect(audienceWords(audience)).toBe(words);
  });
});

describe('who gets a campaign, in plain words', () => {
  const mira = { id: 'mira', name: 'Mira' };

  test('is its audience while it is live', () => {
    expect(whoWords(aCampaign({ audience: { language: 'ar' } }))).toEqual([
      'Visitors of whom this is true: language is ar.',
    ]);
    expect(verdictWords(aCampaign(), mira, true)).toBe('By its rules, Mira gets it.');
    expect(verdictWords(aCampaign(), mira, false)).toMatch(/^By its rules, Mira does not get it now\./);
  });

  test.each([
    ['draft', 'Nobody yet: it is a draft.'],
    ['stopped', 'Nobody: it is stopped.'],
  ] as const)('is nobody while it is %s, its test users aside', (status, none) => {
    const campaign = aCampaign({ status, test_users: ['kim', 'jo'] });
    expect(whoWords(campaign)).toEqual([
      none,
      'Test users see it all the same: kim, jo.',
      'Once it is live: Everyone.',
    ]);
    expect(verdictWords(campaign, mira, true)).toMatch(/: nobody gets it\. By its rules, Mira would\.$/);
    expect(verdictWords(campaign, mira, false)).toMatch(/Mira would not get it now either\.$/);
    expect(verdictWords(campaign, { id: 'jo', name: 'Jo' }, false)).toBe('Jo is a test user and gets it.');
  });
});

describe('a schedule in plain words', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');

  test.each([
    [{}, 'live'],
    [{ status: 'draft' }, 'draft'],
    [{ status: 'stopped' }, 'stopped'],
    [{ starts_at: '2026-03-02T00:00:00Z' }, 'waiting'],
    [{ ends_at: '2026-03-01T12:00:00Z' }, 'over'],
    [{ starts_at: '2026-02-01T00:00:00Z', ends_at: '2026-04-01T00:00:00Z' }, 'live'],
  ] as const)('%j is %s', (changes, state) => {
    expect(scheduleState(aCampaign(changes), now)).toBe(state);
  });

  test('names the zone that its hours are in', () => {
    const words = scheduleWords(aCampaign({ ends_at: '2026-03-01T12:00:00+02:00' }));
    const zone = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' })
      .formatToParts(Date.parse('2026-03-01T10:00:00Z'))
      .find(({ type }) => type === 'timeZoneName')!.value;
    expect(words.endsWith(` ${zone}.`)).toBe(true);
  });

  test('says from when to when, as far as the campaign does', () => {
    expect(scheduleWords(aCampaign())).toBe('At any time, without an end.');
    expect(scheduleWords(aCampaign({ ends_at: '2026-03-01T12:00:00Z' }))).toMatch(/^Until 1 March 2026 at /);
    expect(scheduleWords(aCampaign({ starts_at: '2026-03-01T12:00:00Z', ends_at: null }))).toMatch(
      /^From 1 March 2026 at .+, without an end\.$/,
    );
  });

  test('tells the rules that decide how often it is seen', () => {
    const rules = ruleWords(
      aCampaign({
        priority: 'high',
        control_percentage: 10,
        reeligible_after_hours: 48,
        variants: [{ variant_id: 'a', expires_after_seconds: 7_200, properties: {} }],
      }),
    );
    expect(rules).toEqual([
      'Priority is high.',
      '10 % see nothing, to compare with.',
      'Who dismisses it may see it again after 2 days.',
      'A page keeps it for 2 hours.',
    ]);
    expect(ruleWords(aCampaign())).toContain('Who dismisses it never sees it again.');
  });
});

describe('a draft', () => {
  test('leaves the original alone, and knows whether it differs', () => {
    const original = aCampaign();
    const draft = createDraft(original);
    expect(draft.isChanged()).toBe(false);
    draft.set('a', 'headline', { type: 'string', value: 'Half price' });
    draft.set('a', 'theme', { type: 'string', value: 'dark' });
    expect(original.variants[0]?.properties['headline']?.value).toBe('Sale');
    expect(draft.isChanged()).toBe(true);
    expect(JSON.parse(draft.json()).variants[0].properties.headline.value).toBe('Half price');
    draft.remove('a', 'theme');
    draft.set('a', 'headline', { type: 'string', value: 'Sale' });
    expect(draft.isChanged()).toBe(false);
    draft.set('a', 'body', { type: 'string', value: 'x' });
    draft.reset();
    expect(draft.properties('a')).toEqual(original.variants[0]?.properties);
  });
});

describe('results', () => {
  test('count events and people by campaign and variant, and keep the control group apart', async () => {
    const store = await openStore(':memory:');
    const at = (timeMs: number, eventType: 'impression' | 'click' = 'impression') =>
      aBannerEvent({ bannerId: 'bnr-a', campaignId: 'sale', eventType, timeMs, receivedAtMs: timeMs });
    await recordBannerEvents(store, 'u-1', [at(1_000), at(2_000)]);
    await recordBannerEvents(store, 'u-2', [at(3_000), at(4_000, 'click')]);
    const control = { ...at(5_000), bannerId: 'bnr-control', variantId: null, isControl: true };
    await recordBannerEvents(store, 'u-3', [control]);
    expect(await countResults(store, 'demo')).toEqual({
      sale: {
        a: {
          impression: { total: 3, unique: 2 },
          click: { total: 1, unique: 1 },
          dismiss: { total: 0, unique: 0 },
        },
        control: {
          impression: { total: 1, unique: 1 },
          click: { total: 0, unique: 0 },
          dismiss: { total: 0, unique: 0 },
        },
      },
    });
    await store.close();
  });
});

describe('the switches', () => {
  const url = 'http://127.0.0.1:8787/v1/device-messaging/banners/track';
  const track = (events: unknown[]) => new Request(url, { method: 'POST', body: JSON.stringify({ events }) });
  const recording = () => {
    const sent: unknown[] = [];
    const faults = createFaults(async (input) => {
      sent.push(await new Request(input).json());
      return Response.json({ message: 'success' });
    });
    return { faults, sent };
  };

  test('let everything pass while none is on', async () => {
    const { faults, sent } = recording();
    await faults.fetch(track([{ id: 'a', timestamp: 't' }]));
    expect(sent).toEqual([{ events: [{ id: 'a', timestamp: 't' }] }]);
  });

  test('fail as a network does, and answer as a service in trouble does', async () => {
    const { faults, sent } = recording();
    faults.set('offline', true);
    await expect(faults.fetch(track([]))).rejects.toThrow(TypeError);
    faults.set('offline', false);
    faults.set('down', true);
    expect((await faults.fetch(track([]))).status).toBe(503);
    faults.set('down', false);
    faults.set('busy', true);
    const busy = await faults.fetch(track([]));
    expect([busy.status, busy.headers.get('x-ratelimit-retry-after')]).toEqual([429, '8']);
    expect(sent).toEqual([]);
  });

  test('spoil one event of one batch, and switch themselves off', async () => {
    const { faults, sent } = recording();
    const heard: boolean[] = [];
    faults.subscribe(() => heard.push(faults.isOn('bad-event')));
    faults.set('bad-event', true);
    for (const _ of [1, 2])
      await faults.fetch(
        track([
          { id: 'a', timestamp: 't' },
          { id: 'b', timestamp: 't' },
        ]),
      );
    expect(sent).toEqual([
      { events: [{ id: 'a' }, { id: 'b', timestamp: 't' }] },
      {
        events: [
          { id: 'a', timestamp: 't' },
          { id: 'b', timestamp: 't' },
        ],
      },
    ]);
    expect(heard).toEqual([true, false]);
  });
});

describe('what the panel says', () => {
  const nothing: Diagnostics = {
    captured: 0,
    delivered: 0,
    pending: 0,
    inDoubt: 0,
    deadLetters: 0,
    discarded: 0,
    evicted: 0,
    expired: 0,
    purged: 0,
    memoryMode: false,
    sender: true,
    waitingUntil: null,
  };

  test.each([
    [{}, 'Nothing to send yet.'],
    [{ captured: 1, pending: 1 }, 'One event waits on this device.'],
    [{ captured: 3, pending: 1, inDoubt: 2 }, '3 events wait on this device.'],
    [{ captured: 2, delivered: 1, deadLetters: 1 }, 'All sent but what was kept aside.'],
    [{ captured: 2, delivered: 2 }, 'Everything is delivered.'],
  ])('%j: %s', (changes, text) => {
    expect(standing({ ...nothing, ...changes }).text).toBe(text);
  });

  test('has a sentence for a skip, with its reason', () => {
    const event = { type: 'click', bannerId: 'b', placementId: 'home_hero', userId: 'u', time: 1 } as const;
    expect(sentence({ type: 'skipped', event, reason: "'timestamp' is required", attempts: 1 })).toEqual({
      text: "The service skipped an event ('timestamp' is required). It goes again, one attempt older.",
      tone: 'wait',
    });
  });
});

describe('the start', () => {
  test('prints one curl line that a shell takes as it is', () => {
    const lines = announcement({ url: 'http://127.0.0.1:8787', hasDemoKeys: true }).split('\n');
    const curl = lines.filter((line) => line.trim().startsWith('curl '));
    expect(curl).toHaveLength(1);
    const [, body = ''] = /-d '([^']+)'$/.exec(curl[0]!) ?? [];
    expect(JSON.parse(body)).toMatchObject({ external_user_id: 'mira', placements: ['home_hero'] });
  });

  test('says in one sentence that the port is taken', () => {
    const error = Object.assign(new Error('listen'), { code: 'EADDRINUSE', port: 8787 });
    expect(startProblem(error)).toBe(
      'Port 8787 is taken. Stop what uses it, or choose another: PORT=8788 PLACARD_DB=other.db npm start',
    );
    expect(startProblem(new Error('something else'))).toBeNull();
  });

  test('says in one sentence that the workspace file is not there', () => {
    const error = Object.assign(new Error('open'), { code: 'ENOENT', path: 'mine.json' });
    expect(startProblem(error)).toBe('mine.json is not there: set PLACARD_WORKSPACE to a workspace file.');
  });

  test('says in one sentence that the database is in use', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'placard-claimed-'));
    const file = join(folder, 'demo.db');
    const store = await openStore(file);
    expect(startProblem(await openStore(file).catch((error: unknown) => error))).toMatch(
      /^The demo already runs, or another program has its database: .+ PORT=8788 PLACARD_DB=other\.db npm start$/,
    );
    await store.close();
    await rm(folder, { recursive: true });
  });

  test('says in one sentence what is wrong with the port', () => {
    const refused = () => readSettings({ PORT: 'eighty' });
    expect(refused).toThrow(SettingsError);
    expect(startProblem(new SettingsError('PORT: no'))).toBe('PORT: no');
  });

  test('refuses a port that is none', () => {
    expect(() => readSettings({ PORT: 'eighty' })).toThrow(
      'PORT: expected a number from 0 to 65535, got "eighty"',
    );
    expect(readSettings({})).toMatchObject({ port: 8787, host: '127.0.0.1' });
    expect(readSettings({ PORT: '', HOST: '' })).toMatchObject({ port: 8787, host: '127.0.0.1' });
  });
});
