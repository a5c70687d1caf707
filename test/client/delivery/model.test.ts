// @vitest-environment node
import { expect, test } from 'vitest';
import type { EventType } from '../../../src/client/banner.ts';
import {
  isClaim,
  type LogEvent,
  type QueuedEvent,
  TOTALS,
} from '../../../src/client/delivery/log/records.ts';
import { byTime } from '../../../src/client/delivery/sender/send.ts';
import { isUnavailable } from '../../../src/client/load-chunk.ts';
import { assertConserved, type Fault } from '../../../src/testing/index.ts';
import fc, { times } from '../../helpers/property.ts';
import { createTroubleSwitch, createWorld, type TabSetup, type World } from './world.ts';

/** Runs of 50 steps. */
const RUNS = times(50);
const STEPS = 50;
const HOUR_MS = 60 * 60_000;

type Action =
  | { do: 'open' }
  | { do: 'kill' | 'stop' | 'flush' | 'restore' | 'hide' | 'show' | 'pagehide'; tab: number }
  | { do: 'capture'; tab: number; count: number; type: EventType; user: string }
  | { do: 'advance'; ms: number }
  | { do: 'jump'; ms: number }
  | { do: 'fault'; fault: Fault; times: number }
  | { do: 'recover' }
  | { do: 'opt-out'; tab: number; policy: 'keep' | 'send' | 'purge' }
  | { do: 'opt-in'; tab: number }
  | { do: 'letters'; tab: number; discard: boolean }
  | { do: 'block chunk' | 'allow chunk' };

const tab = fc.nat(4);
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ type: fc.constant('skip' as const), indices: fc.uniqueArray(fc.nat(6), { minLength: 1 }) }),
  fc.record({
    type: fc.constant('rate-limit' as const),
    afterSeconds: fc.integer({ min: 1, max: 300 }),
    form: fc.constantFrom('banners' as const, 'retry-after' as const, 'hidden' as const),
  }),
  fc.record({ type: fc.constant('status' as const), status: fc.constantFrom(400, 401, 404, 413, 500, 503) }),
  fc.record({ type: fc.constant('slow' as const), delayMs: fc.integer({ min: 1, max: 40_000 }) }),
  fc.record({ type: fc.constant('hang' as const), stored: fc.boolean() }),
  fc.record({
    type: fc.constant('drop' as const),
    when: fc.constantFrom('before' as const, 'after' as const),
  }),
  fc.constant({ type: 'captive-portal' as const }),
  fc.record({ type: fc.constant('truncate' as const), broken: fc.boolean() }),
  fc.constant({ type: 'redirect' as const, to: 'http://elsewhere.test/' }),
  fc.record({
    type: fc.constant('errors' as const),
    errors: fc.array(fc.record({ index: fc.integer({ min: -1, max: 4 }), type: fc.constant('odd') })),
    processed: fc.nat(5),
  }),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ do: 'open' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('kill', 'flush', 'flush', 'restore', 'hide', 'show', 'pagehide', 'stop'),
      tab,
    }) as fc.Arbitrary<Action>,
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('capture' as const),
      tab,
      count: fc.integer({ min: 1, max: 8 }),
      type: fc.constantFrom<EventType>('impression', 'click', 'dismiss'),
      user: fc.constantFrom('u1', 'u2'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(0, 100, 300, 5_000, 12_000, 40_000, 400_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('jump' as const),
      // Captures are a multiple of 100 ms apart, so a jump never makes two tabs capture in the same millisecond, even if a resumed page
      // stores many captures at once, with increasing times.
      ms: fc.integer({ min: -86_400, max: 86_400 }).map((seconds) => seconds * 1_000 + 50),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('fault' as const), fault, times: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'recover' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('block chunk' as const, 'allow chunk' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.oneof<fc.Arbitrary<Action>[]>(
      fc.record({
        do: fc.constant('opt-out' as const),
        tab,
        policy: fc.constantFrom('keep' as const, 'send' as const, 'purge' as const),
      }),
      fc.record({ do: fc.constant('opt-in' as const), tab }),
      fc.record({ do: fc.constant('letters' as const), tab, discard: fc.boolean() }),
    ),
  },
);

/** Returns the number of events ever stored, from the disk: those still there, and those removed. */
const checkDisk = (world: World): number => {
  const records = world.records();
  const of = <T>(kind: string) =>
    records.filter(([key]) => (key as string[])[0] === kind) as unknown as [QueuedEvent['key'], T][];
  const events = of<LogEvent>('event');
  const batches = records.map(([, record]) => record).filter(isClaim);
  for (const { keys } of batches) expect(keys.length).toBeGreaterThan(0);
  const queue = events.map(([key, event]) => ({ key, event }));
  expect([...queue].sort(byTime)).toEqual(queue);
  const state = world.state();
  const left = TOTALS.reduce((sum, total) => sum + (state?.[total] ?? 0), 0);
  return left + events.length + of('dead').length;
};

/** Resolves with `undefined` if the trouble chunk cannot be loaded. */
const ifAvailable = <T>(work: Promise<T> | undefined): Promise<T | undefined> | undefined =>
  work?.catch((cause) => {
    if (!isUnavailable(cause)) throw cause;
    return undefined;
  });

const play = async (actions: Action[]): Promise<void> => {
  const world = createWorld();
  const chunk = createTroubleSwitch();
  const openTab = (setup: TabSetup = {}) => world.openTab({ loadTrouble: chunk.load, ...setup });
  const tabs = [openTab({ onEventRejected: (event, { attempts }) => (attempts > 1 ? null : event) })];
  // A page that exits before its log is open continues in memory, without durability.
  await world.settle();
  const durable: { userId: string; bannerId: string; type: string; time: number; tab: unknown }[] = [];
  let names = 0;
  /** Whether each deletion was counted. */
  let isCounted = true;
  let pendingPurges = 0;
  const minStored = (): number => (isCounted ? durable.length : 0);

  const perform = async (step: Action): Promise<void> => {
    const actor = 'tab' in step ? tabs[step.tab % Math.max(1, tabs.length)] : undefined;
    const leave = () => tabs.splice(tabs.indexOf(actor!), 1);
    switch (step.do) {
      case 'open':
        if (tabs.length < 5) tabs.push(openTab());
        return;
      case 'kill':
        actor?.kill();
        if (actor) leave();
        return;
      case 'stop':
        actor?.delivery.stop();
        if (actor) leave();
        return;
      case 'flush':
        void ifAvailable(actor?.delivery.flush());
        return;
      case 'hide':
        return actor?.tell('hidden');
      case 'show':
        return actor?.tell('visible');
      case 'pagehide':
        actor?.tell('hidden');
        return actor?.tell('pagehide');
      case 'restore':
        // A resumed page stores its captures, with the current time if the clock was set back in the meantime.
        await world.clock.advance(100);
        actor?.tell('restored');
        return actor?.tell('visible');
      case 'capture':
        // Without jumps of the clock, two tabs never capture in the same millisecond.
        await world.clock.advance(100);
        for (let i = 0; actor && i < step.count; i += 1) {
          names += 1;
          // Only a few banners, so that natural keys would collide if nothing prevented it.
          void actor
            .capture(`b${names % 3}`, step.type, step.user)
            .then((event) => event && durable.push({ ...event, tab: actor }));
        }
        return;
      case 'advance':
        return world.clock.advance(step.ms);
      case 'jump':
        return world.clock.jump(step.ms);
      case 'fault':
        world.service.fail(step.fault, { times: step.times });
        return;
      case 'recover':
        return world.service.recover();
      case 'opt-out': {
        const disabled = actor?.delivery.disable(step.policy);
        if (step.policy !== 'purge') return;
        // A purge without the chunk is not counted. A suspended tab purges when it resumes.
        isCounted &&= !chunk.isBlocked();
        pendingPurges += 1;
        void disabled?.then(() => {
          pendingPurges -= 1;
        });
        return;
      }
      case 'opt-in':
        void actor?.delivery.enable();
        return;
      case 'letters':
        void ifAvailable(
          step.discard ? actor?.delivery.discardDeadLetters() : actor?.delivery.retryDeadLetters(),
        );
        return;
      case 'block chunk':
        isCounted &&= pendingPurges === 0;
        return chunk.block();
      case 'allow chunk':
        return chunk.allow();
    }
  };

  for (const step of actions) {
    await perform(step);
    await world.settle();
    expect(checkDisk(world)).toBeGreaterThanOrEqual(minStored());
    const awake = tabs.at(-1);
    // A suspended page responds when it resumes.
    const diagnostics = await Promise.race([ifAvailable(awake?.delivery.diagnostics()), world.settle()]);
    if (diagnostics) assertConserved(diagnostics);
  }

  // At the end, all failures stop: every event that was not dropped is delivered once.
  world.service.recover();
  chunk.allow();
  for (const each of tabs) each.kill();
  const last = world.openTab({ apiKey: 'client-key' });
  // If opt-in and opt-out had the same millisecond, the opt-in would be the earlier choice.
  await world.clock.advance(1);
  await last.delivery.enable();
  for (let round = 0; round < 4; round += 1) {
    await world.clock.advance(HOUR_MS);
    await last.delivery.flush();
  }
  const stored = checkDisk(world);
  expect(stored).toBeGreaterThanOrEqual(minStored());
  expect(stored).toBeLessThanOrEqual(names);
  const diagnostics = await last.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: stored, pending: 0, inDoubt: 0 });
  const key = (event: Omit<(typeof durable)[number], 'tab'>) =>
    [event.userId, event.bannerId, event.type, event.time].join();
  for (const ofTab of Map.groupBy(durable, (event) => event.tab).values())
    expect(new Set(ofTab.map(key)).size).toBe(ofTab.length);
  // After jumps of the clock, two tabs may capture in the same millisecond: separate tests cover that.
  fc.pre(new Set(durable.map(key)).size === durable.length);
  // The service deduplicates, so each delivered event is a distinct one.
  const { delivered, discarded, evicted, expired, purged } = diagnostics;
  expect(world.service.events.length).toBeGreaterThanOrEqual(delivered);
  const arrived = new Set(world.service.events.map(key));
  const letters = new Set((await last.delivery.deadLetters()).map(({ event }) => key(event)));
  const gone = durable.filter((event) => !arrived.has(key(event)) && !letters.has(key(event)));
  if (isCounted) expect(gone.length).toBeLessThanOrEqual(discarded + evicted + expired + purged);
};

test(
  `${RUNS * STEPS} random steps of tabs, faults, crashes and opt-outs do not lose or duplicate events`,
  async () => {
    await fc.assert(fc.asyncProperty(fc.array(action, { minLength: STEPS, maxLength: STEPS }), play), {
      numRuns: RUNS,
      endOnFailure: true,
    });
  },
  times(300_000),
);
