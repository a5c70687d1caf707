import { describe, expect, test } from 'vitest';
import type { NewBannerEvent, Purchase } from '../../../src/service/profiles/events.ts';
import { MAX_BATCH } from '../../../src/service/results/batch-size.ts';
import type { ResultsQuery, Store } from '../../../src/service/store/index.ts';
import { createZonedCalendar } from '../../../src/service/zoned-calendar.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import fc, { times } from '../../helpers/property.ts';
import { anEvent, aPurchase, byExternalId } from './examples.ts';
import { type Done, getModel, inOrder, type Seen } from './results-model.ts';

const HOUR = 3_600_000;
/** Two days before daylight saving time starts in Berlin. */
const START = Date.UTC(2026, 2, 27, 12);
const PEOPLE = 3;
const CONVERSIONS: ResultsQuery['goals'] = [
  { event: 'signed_up', withinMs: 40 * HOUR },
  { product: 'cup', withinMs: 72 * HOUR },
];

const what = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('impression', 'impression', 'click', 'dismiss'),
      variantId: fc.constantFrom('a', 'b', null),
      placementId: fc.constantFrom('home', 'side bar'),
      language: fc.constantFrom('en', 'pt-BR', null),
      holdoutId: fc.constantFrom('@holdout:1', null),
      isTestSend: fc.integer({ min: 0, max: 9 }).map((value) => value === 0),
      /** From a clock that is ahead to a page that was offline for two days. */
      lateHours: fc.constantFrom(-30, 0, 0, 0, 48),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('signed_up', 'signed_up', 'left') }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('cup', 'cup', 'pot'), price: fc.constantFrom(5, -2, 1.25) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('merge'), with: fc.nat({ max: PEOPLE - 1 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase') }) },
  // Changes the campaign's goals or reads its results.
  { weight: 1, arbitrary: fc.record({ do: fc.constant('keep'), goals: fc.nat({ max: 3 }) }) },
);
const happening = fc.record({
  person: fc.nat({ max: PEOPLE - 1 }),
  minute: fc.nat({ max: 5 * 24 * 60 }),
  what,
});
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/** Stores the list in its order, which differs from the order of the events, and adds it to the model. */
const happen = async (store: Store, run: number, all: readonly Happening[], timeZone: string) => {
  const calendar = createZonedCalendar(timeZone);
  const seen: Seen[] = [];
  const done: Done[] = [];
  /** Current user of each external ID, and the number for the next user once an ID is free again. */
  const people = new Map<number, number>();
  let next = 0;
  const getPerson = (name: number) => {
    if (!people.has(name)) people.set(name, next++);
    return people.get(name)!;
  };
  const getExternalId = (name: number) => `u-${run}-${name}`;
  const write = (names: number[], apply: Parameters<Store['write']>[0]['apply']) =>
    store.write({
      workspaceId: 'demo',
      lookups: names.map((name) => byExternalId(getExternalId(name))),
      nowMs: START,
      apply,
    });

  for (const [index, { person: name, minute, what }] of all.entries()) {
    const externalId = getExternalId(name);
    // Distinct times, so that the first impression is unambiguous.
    const timeMs = START + minute * 60_000 + index;
    if ('goals' in what) {
      const goals = CONVERSIONS.filter((_, goal) => what.goals & (1 << goal));
      await store.addGoals('demo', { campaignId: `c-${run}`, goals, timeZone });
    } else if ('lateHours' in what) {
      const { do: type, variantId, placementId, language, holdoutId, isTestSend, lateHours } = what;
      const receivedAtMs = timeMs + lateHours * HOUR;
      const eventType = type as NewBannerEvent['eventType'];
      const campaignId = `c-${run}`;
      const bannerId = `bnr ${run} ${variantId} ${placementId} ${language} ${holdoutId}`;
      const of = {
        campaignId,
        holdoutId,
        bannerId,
        variantId,
        placementId,
        language,
        isControl: variantId === null,
        isTestSend,
      };
      const ms = Math.min(timeMs, receivedAtMs);
      const event = aBannerEvent({ ...of, eventType, timeMs, receivedAtMs, day: calendar.toDay(ms) });
      await recordBannerEvents(store, externalId, [event]);
      const person = getPerson(name);
      if (!isTestSend) seen.push({ person, type: eventType, variantId, placementId, language, ms });
    } else if (what.do === 'erase') {
      await write([name], (users) => users.eraseByExternalId(externalId));
      const gone = people.get(name);
      for (const list of [seen, done])
        for (let i = list.length - 1; i >= 0; i -= 1) if (list[i]!.person === gone) list.splice(i, 1);
      people.delete(name);
    } else if ('with' in what) {
      const other = what.with;
      if (other === name || !people.has(other) || !people.has(name)) continue;
      await write([name, other], (users) => {
        const of = (id: number) =>
          users.find(byExternalId(getExternalId(id)))[0] ??
          users.create({ externalId: getExternalId(id) }, START);
        users.merge(of(name), of(other), START);
      });
      const [kept, gone] = [people.get(name)!, people.get(other)!];
      for (const each of [...seen, ...done]) if (each.person === gone) each.person = kept;
      people.delete(other);
    } else {
      const price = 'price' in what ? what.price : 0;
      await write([name], (users) => {
        const profile = users.find(byExternalId(externalId))[0] ?? users.create({ externalId }, START);
        const event =
          'price' in what
            ? { ...aPurchase(profile, what.do, timeMs), price, quantity: 1 }
            : anEvent(profile, what.do, timeMs);
        users.record(profile, event);
      });
      const person = getPerson(name);
      done.push({
        person,
        ms: timeMs,
        price,
        ...('price' in what ? { product: what.do } : { event: what.do }),
      });
    }
  }
  return { seen, done };
};

/** Contract of campaign results for every store. */
export const resultsContract = (getStore: () => Store) =>
  describe('results', () => {
    // A read catches up for two seconds only, which are too few for a busy machine.
    const catchUp = async () => {
      while (!(await getStore().catchUpResults()).isCaughtUp);
    };
    const ask = async (change: Partial<ResultsQuery> = {}) => {
      const query = { campaignId: 'campaign', goals: [], timeZone: 'UTC', ...change };
      await getStore().addGoals('demo', query);
      await catchUp();
      return getStore().campaignResults('demo', query);
    };
    const addGoals = (goals: ResultsQuery['goals'], timeZone = 'UTC') =>
      getStore().addGoals('demo', { campaignId: 'campaign', goals, timeZone });
    const record = (externalId: string, ...events: NewBannerEvent[]) =>
      recordBannerEvents(getStore(), externalId, events);
    const buyCup = (externalId: string, timeMs: number, changes: Partial<Purchase>) =>
      getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId(externalId)],
        nowMs: START,
        apply(users) {
          const profile = users.find(byExternalId(externalId))[0] ?? users.create({ externalId }, START);
          users.record(profile, { ...aPurchase(profile, 'cup', timeMs), ...changes });
        },
      });

    test('equal those of a plain list, even if events arrive late or out of order', async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(happening, { minLength: 12, maxLength: 30 }),
          fc.constantFrom('Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'UTC'),
          fc.boolean(),
          async (all, timeZone, isKeptFirst) => {
            run += 1;
            const question = { campaignId: `c-${run}`, goals: CONVERSIONS, timeZone };
            if (isKeptFirst) await getStore().addGoals('demo', question);
            const steps = isKeptFirst ? all.filter(({ what }) => !('goals' in what)) : all;
            const { seen, done } = await happen(getStore(), run, steps, timeZone);
            const results = await getStore().campaignResults('demo', question);
            const { currencies: _, ...counted } = inOrder(results);
            const { currencies: __, ...expected } = inOrder(getModel(seen, done, question));
            expect(counted).toEqual(expected);
            expect(await getStore().verifyResults('demo')).toEqual([]);
            const shown = results.arms.filter(({ variantId }) => variantId !== null);
            const sum = (of: 'exposed' | 'clicked') => shown.reduce((total, arm) => total + arm[of], 0);
            const numbers = await getStore().campaignSummaries('demo');
            const number = numbers.find(({ campaignId }) => campaignId === question.campaignId);
            expect([number?.exposed ?? 0, number?.clicked ?? 0]).toEqual([sum('exposed'), sum('clicked')]);
          },
        ),
        { numRuns: times(10) },
      );
      // Thousands of statements take longer than a minute on a busy cluster.
    });

    describe('after retention', () => {
      const DAY = 24 * HOUR;
      const cup = { product: 'cup', withinMs: 400 * DAY };
      const prune = async (beforeMs: number) => {
        const before = { events: beforeMs, bannerEvents: beforeMs };
        while ((await getStore().prune('demo', before)).hasMore);
      };
      const seenAt = (timeMs: number, change: Partial<NewBannerEvent> = {}) =>
        aBannerEvent({ timeMs, receivedAtMs: timeMs, ...change });

      test('keep conversions on a merge after their events are deleted', async () => {
        await addGoals([cup]);
        // Before the first impression of its user, and after that of the user who takes it.
        await buyCup('gone', START + 50 * DAY, { receivedAtMs: START + 90 * DAY });
        await buyCup('gone', START + 110 * DAY, { receivedAtMs: START + 80 * DAY });
        await record('gone', seenAt(START + 100 * DAY));
        await buyCup('kept', START, { receivedAtMs: START + 95 * DAY });
        await record('kept', seenAt(START + 40 * DAY));
        await prune(START + 85 * DAY);
        await getStore().write({
          workspaceId: 'demo',
          lookups: ['kept', 'gone'].map(byExternalId),
          nowMs: START,
          apply(users) {
            const [kept, gone] = ['kept', 'gone'].map((name) => users.find(byExternalId(name))[0]!);
            users.merge(kept!, gone!, START);
          },
        });
        const { arms } = await ask({ goals: [cup] });
        // Two purchases of 3, one of which is deleted.
        expect(arms).toMatchObject([{ exposed: 1, goals: [{ converted: 1, revenue: 6 }] }]);
      });

      test('attribute users to their first impression on a recount, even if it is deleted', async () => {
        await record('kim', seenAt(START), seenAt(START + DAY, { variantId: 'b', bannerId: 'bnr_2' }));
        await prune(START + 1);
        const [difference, ...others] = (await getStore().verifyResults('demo')).filter(
          ({ dimension }) => dimension === '',
        );
        expect(difference).toMatchObject({
          variantId: 'a',
          stored: [2, 1, 0, 0, 0, 0],
          counted: [1, 1, 0, 0, 0, 0],
        });
        expect(others).toEqual([]);
      });
    });

    test('count every user once', async () => {
      const PEOPLE_OF_STEPS = 2_001;
      await getStore().write({
        workspaceId: 'demo',
        lookups: [],
        nowMs: START,
        apply(users) {
          for (let user = 0; user < PEOPLE_OF_STEPS; user += 1) {
            users.recordBannerEvents(
              `many-${user}`,
              [aBannerEvent(), aBannerEvent({ timeMs: START })],
              START,
              true,
            );
          }
        },
      });
      while (!(await getStore().catchUpResults()).isCaughtUp);
      const counts = { exposed: PEOPLE_OF_STEPS, impressions: 2 * PEOPLE_OF_STEPS };
      expect(await ask()).toMatchObject({ arms: [counts], placements: [counts] });
    });

    test('count events that arrive in a later month, and a first impression that moves them', async () => {
      const [march, april, may] = [2, 3, 4].map((month) => Date.UTC(2026, month, 20));
      for (const timeMs of [march!, april!, may!, march! + HOUR, april! + HOUR]) {
        await record('u-1', aBannerEvent({ timeMs, receivedAtMs: may! + HOUR }));
        await ask();
        expect(await getStore().verifyResults('demo')).toEqual([]);
      }
      const days = (await ask()).days.map(({ day, impressions, exposed }) => [day, impressions, exposed]);
      expect(days).toEqual([
        ['2026-03-20', 2, 1],
        ['2026-04-20', 2, 1],
        ['2026-05-20', 1, 1],
      ]);
      await record('u-1', aBannerEvent({ timeMs: march! - HOUR, variantId: 'b', bannerId: 'bnr_2' }));
      expect((await ask()).arms).toMatchObject([{ variantId: 'b', exposed: 1, impressions: 6 }]);
      expect(await getStore().verifyResults('demo')).toEqual([]);
    });

    test('count shared events of two merged users once', async () => {
      const events = [aBannerEvent(), aBannerEvent({ eventType: 'click' }), aBannerEvent({ timeMs: START })];
      await record('u-1', ...events);
      await record('u-2', ...events, aBannerEvent({ timeMs: START + 1, placementId: 'side' }));
      await getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId('u-1'), byExternalId('u-2')],
        nowMs: START,
        apply(users) {
          const of = (externalId: string) => users.create({ externalId }, START);
          users.merge(of('u-1'), of('u-2'), START);
        },
      });
      expect((await ask()).arms).toMatchObject([{ exposed: 1, impressions: 3, clicked: 1, clicks: 1 }]);
      expect(await getStore().verifyResults('demo')).toEqual([]);
      expect((await getStore().loadTargetingData('demo', 'u-1')).campaigns).toMatchObject([
        { impressions: 3, clicks: 1 },
      ]);
    });

    test('count the conversions of a merged user without an impression', async () => {
      const goals = [{ product: 'cup', withinMs: HOUR }];
      await record('u-1', aBannerEvent({ timeMs: START, receivedAtMs: START }));
      await getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId('u-2')],
        nowMs: START,
        apply(users) {
          const profile = users.create({ externalId: 'u-2' }, START);
          users.record(profile, aPurchase(profile, 'cup', START + 1));
        },
      });
      expect((await ask({ goals })).arms).toMatchObject([{ goals: [{ converted: 0 }] }]);
      await getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId('u-1'), byExternalId('u-2')],
        nowMs: START,
        apply(users) {
          const [merged] = users.find(byExternalId('u-2'));
          users.merge(users.create({ externalId: 'u-1' }, START), merged!, START);
        },
      });
      expect((await ask({ goals })).arms).toMatchObject([{ goals: [{ converted: 1 }] }]);
      expect(await getStore().verifyResults('demo')).toEqual([]);
    });

    test('keep their counts when retention deletes events, and do not count users twice', async () => {
      await record('u-1', aBannerEvent({ timeMs: START }));
      await getStore().prune('demo', { events: null, bannerEvents: START + 1 });
      await record('u-1', aBannerEvent({ timeMs: START + HOUR }));
      expect((await ask()).placements).toMatchObject([{ exposed: 1, impressions: 2 }]);
      expect(await getStore().verifyResults('demo')).toMatchObject([
        { stored: [2, 1, 0, 0, 0, 0], counted: [1, 1, 0, 0, 0, 0] },
        {},
        {},
      ]);
    });

    test('count new and changed goals for every user with an impression', async () => {
      const PEOPLE_OF_STEPS = 2 * MAX_BATCH.bannerEvents + 1;
      await getStore().write({
        workspaceId: 'demo',
        lookups: [],
        nowMs: START,
        apply(users) {
          for (let user = 0; user < PEOPLE_OF_STEPS; user += 1) {
            const externalId = `many-${user}`;
            const profile = users.create({ externalId }, START);
            users.record(profile, aPurchase(profile, user % 2 ? 'cup' : 'pot', START + user));
            users.recordBannerEvents(
              externalId,
              [aBannerEvent({ timeMs: START, receivedAtMs: START })],
              START,
              true,
            );
          }
        },
      });
      const product = (name: string, withinMs: number) => ask({ goals: [{ product: name, withinMs }] });
      const cups = MAX_BATCH.bannerEvents;
      expect((await product('cup', HOUR)).arms).toMatchObject([{ goals: [{ converted: cups }] }]);
      expect((await product('pot', HOUR)).arms).toMatchObject([{ goals: [{ converted: cups + 1 }] }]);
      expect((await product('cup', 9)).arms).toMatchObject([{ goals: [{ converted: 5 }] }]);
      // Two concurrent reads of results that are not counted yet.
      const both = await Promise.all([product('cup', 2 * HOUR), product('cup', 2 * HOUR)]);
      for (const { arms } of both) expect(arms).toMatchObject([{ goals: [{ converted: cups }] }]);
      expect(await getStore().verifyResults('demo')).toEqual([]);
    });

    const cup = { product: 'cup', withinMs: HOUR } as const;
    const left = { event: 'left', withinMs: HOUR } as const;
    /** One user reached the goal `cup`. Retention then deletes the events, so they cannot be counted again. */
    const countThenPrune = async () => {
      await addGoals([cup]);
      await record('u-1', aBannerEvent({ timeMs: START, receivedAtMs: START }));
      await getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId('u-1')],
        nowMs: START,
        apply(users) {
          const profile = users.create({ externalId: 'u-1' }, START);
          users.record(profile, aPurchase(profile, 'cup', START + 1));
        },
      });
      await getStore().prune('demo', { events: START + HOUR, bannerEvents: null });
    };

    test('keep a goal whose events retention has deleted, while another one is added', async () => {
      await countThenPrune();
      const { arms } = await ask({ goals: [cup, left] });
      expect(arms).toMatchObject([{ goals: [{ converted: 1 }, { converted: 0 }] }]);
    });

    test('keep the goals of a replica with a newer file if one with an older file requests others', async () => {
      await countThenPrune();
      await addGoals([left]);
      expect((await ask({ goals: [left] })).arms).toMatchObject([{ goals: [{ converted: 0 }] }]);
      expect((await ask({ goals: [cup] })).arms).toMatchObject([{ goals: [{ converted: 1 }] }]);
    });

    test.each(['kept', 'merged'] as const)('keep the deleted conversions of a %s user', async (role) => {
      await countThenPrune();
      // The other user saw the campaign before and did nothing else.
      await record('u-2', aBannerEvent({ timeMs: START - 2 * HOUR, receivedAtMs: START - 2 * HOUR }));
      await getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId('u-1'), byExternalId('u-2')],
        nowMs: START,
        apply(users) {
          const buyer = users.find(byExternalId('u-1'))[0]!;
          const other = users.create({ externalId: 'u-2' }, START);
          users.merge(...(role === 'kept' ? ([buyer, other] as const) : ([other, buyer] as const)), START);
        },
      });
      const goals = [{ converted: 1, revenue: 3, revenueSumOfSquares: 9 }];
      expect((await ask({ goals: [cup] })).arms).toMatchObject([{ exposed: 1, goals }]);
    });

    test('keep the conversions of deleted events if an earlier impression arrives late', async () => {
      await countThenPrune();
      await record('u-1', aBannerEvent({ timeMs: START - 2 * HOUR, receivedAtMs: START }));
      expect((await ask({ goals: [cup] })).arms).toMatchObject([{ goals: [{ converted: 1 }] }]);
    });

    test('keep deleted conversions together with those that arrive with an earlier impression', async () => {
      await countThenPrune();
      await getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId('u-1')],
        nowMs: START,
        apply(users) {
          const [profile] = users.find(byExternalId('u-1'));
          users.record(profile!, aPurchase(profile!, 'cup', START + 2));
          const earlier = aBannerEvent({ timeMs: START - 1, receivedAtMs: START });
          users.recordBannerEvents('u-1', [earlier], START, false);
        },
      });
      const goals = [{ converted: 1, revenue: 6, revenueSumOfSquares: 36 }];
      expect((await ask({ goals: [cup] })).arms).toMatchObject([{ goals }]);
    });

    test('also count an event for its holdout, and store it once', async () => {
      const holdout = { holdoutId: '@holdout:1' };
      await record('u-1', aBannerEvent(holdout), aBannerEvent({ ...holdout, eventType: 'click' }));
      await record('u-2', aBannerEvent({ ...holdout, variantId: null, isControl: true, bannerId: 'bnr_2' }));
      const ofAll = { variantId: 'campaigns', exposed: 2, clicked: 1, impressions: 2 };
      expect((await ask({ campaignId: '@holdout:1' })).arms).toMatchObject([ofAll]);
      expect((await ask()).arms).toMatchObject([{ variantId: 'a', exposed: 1 }, { variantId: null }]);
      let stored = 0;
      for await (const _ of getStore().exportBannerEvents('demo')) stored += 1;
      expect(stored).toBe(3);
      await getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId('u-1'), byExternalId('u-2')],
        nowMs: START,
        apply(users) {
          const of = (externalId: string) => users.create({ externalId }, START);
          users.merge(of('u-1'), of('u-2'), START);
        },
      });
      expect((await ask({ campaignId: '@holdout:1' })).arms).toMatchObject([{ ...ofAll, exposed: 1 }]);
      expect(await getStore().verifyResults('demo')).toEqual([]);
    });

    test('count a purchase once if it is stored together with a merge of its user', async () => {
      await addGoals(CONVERSIONS);
      for (const user of ['u-1', 'u-2'])
        await record(user, aBannerEvent({ timeMs: START, receivedAtMs: START }));
      await getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId('u-1'), byExternalId('u-2')],
        nowMs: START,
        apply(users) {
          const of = (externalId: string) => users.create({ externalId }, START);
          const kept = of('u-1');
          users.record(kept, aPurchase(kept, 'cup', START + 1));
          users.merge(kept, of('u-2'), START);
        },
      });
      expect(await getStore().verifyResults('demo')).toEqual([]);
    });

    test('are empty for a campaign without impressions', async () => {
      await record('u-1', aBannerEvent({ eventType: 'click' }), aBannerEvent({ isTestSend: true }));
      const nothing = { arms: [], placements: [], languages: [], days: [], currencies: [] };
      expect(await ask({ goals: CONVERSIONS })).toMatchObject(nothing);
      expect(await ask({ campaignId: 'unknown' })).toMatchObject(nothing);
    });

    test('are recounted for a goal whose window includes a fraction of a millisecond', async () => {
      const goals = [{ event: 'signed_up', withinMs: 8_640_000.000_000_002 }];
      await record('u-1', aBannerEvent({ timeMs: START, receivedAtMs: START }));
      await getStore().write({
        workspaceId: 'demo',
        lookups: [byExternalId('u-1')],
        nowMs: START,
        apply(users) {
          const profile = users.create({ externalId: 'u-1' }, START);
          users.record(profile, anEvent(profile, 'signed_up', START + 1));
        },
      });
      expect((await ask({ goals })).arms).toMatchObject([{ goals: [{ converted: 1 }] }]);
      expect(await getStore().verifyResults('demo')).toEqual([]);
    });

    test('cover one workspace only', async () => {
      await record('u-1', aBannerEvent());
      await recordBannerEvents(getStore(), 'u-2', [aBannerEvent()], 'other');
      expect((await ask()).arms).toMatchObject([{ variantId: 'a', exposed: 1, impressions: 1 }]);
    });

    test('count clicks by button for the variant of the banner, without test sends', async () => {
      const click = (timeMs: number, buttonId: string | null, change: Partial<NewBannerEvent> = {}) =>
        aBannerEvent({ eventType: 'click', timeMs, buttonId, ...change });
      const day = START + 24 * HOUR;
      await record('u-1', aBannerEvent(), click(START, 'more'), click(START + 1, 'more'), click(START, null));
      await record('u-2', click(day, 'more', { receivedAtMs: day }), click(START, 'buy', { variantId: 'b' }));
      await record('tester', click(START, 'more', { isTestSend: true }));
      await record('u-2', aBannerEvent({ buttonId: 'more' }), click(START, 'more', { campaignId: 'other' }));
      expect((await ask()).buttons).toEqual([
        { buttonId: 'more', variantId: 'a', clicks: 3, clicked: 2 },
        { buttonId: 'buy', variantId: 'b', clicks: 1, clicked: 1 },
      ]);
      const query = { campaignId: 'campaign', firstDay: '2026-03-28', lastDay: '2026-03-29' };
      expect(await getStore().campaignButtonDays('demo', query)).toEqual([
        { buttonId: 'more', variantId: 'a', clicks: 1, clicked: 1, day: '2026-03-28' },
      ]);
    });

    test('list the currencies of revenue, and exclude purchases before the first impression', async () => {
      const at = { timeMs: START, receivedAtMs: START };
      await record('u-1', aBannerEvent(at));
      await record('u-2', aBannerEvent(at));
      await buyCup('u-1', START - 1, { currency: 'USD' });
      const question = { goals: [{ product: 'cup', withinMs: HOUR }] };
      expect(await ask(question)).toMatchObject({ currencies: [], arms: [{ goals: [{ converted: 0 }] }] });
      await buyCup('u-1', START, { currency: 'EUR' });
      await buyCup('u-1', START + HOUR, { currency: 'EUR' });
      await buyCup('u-1', START + HOUR + 1, { currency: 'EUR' });
      const spent = [{ converted: 1, revenue: 6, revenueSumOfSquares: 36 }];
      expect(await ask(question)).toMatchObject({ currencies: ['EUR'], arms: [{ goals: spent }] });
      await buyCup('u-2', START + 1, { currency: 'PLN' });
      expect(await ask(question)).toMatchObject({ currencies: ['EUR', 'PLN'] });
    });
  });
