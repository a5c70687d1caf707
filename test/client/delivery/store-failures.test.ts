// @vitest-environment node
import { expect, test } from 'vitest';
import type { BannerEvent } from '../../../src/client/banner.ts';
import { isUnavailable } from '../../../src/client/load-chunk.ts';
import { assertConserved, type StoreFault, type StoreVerb } from '../../../src/testing/index.ts';
import { patience } from '../../helpers/patience.ts';
import fc, { times } from '../../helpers/property.ts';
import { createFaultyWorld, createTroubleSwitch } from './world.ts';

const RUNS = times(200);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

type Action =
  | { do: 'capture'; count: number; isCounted: boolean }
  | {
      do: 'fault';
      fault: 'reject' | 'lose-answer' | 'wait' | 'wait and reject';
      verbs: StoreVerb[] | undefined;
      times: number;
    }
  | { do: 'advance'; ms: number }
  | { do: 'flush' | 'recover' | 'hide' | 'show' | 'answer' | 'block chunk' | 'allow chunk' };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('capture' as const),
      count: fc.integer({ min: 1, max: 4 }),
      isCounted: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      fault: fc.constantFrom(
        'reject' as const,
        'lose-answer' as const,
        'wait' as const,
        'wait and reject' as const,
      ),
      verbs: fc.constantFrom<StoreVerb[] | undefined>(
        undefined,
        ['setMany'],
        ['update'],
        ['entries'],
        ['get'],
      ),
      times: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(0, 300, 2_000, 40_000) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('flush', 'recover', 'hide', 'show', 'show', 'answer', 'answer'),
    }) as fc.Arbitrary<Action>,
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('block chunk', 'allow chunk') }) as fc.Arbitrary<Action>,
  },
);

/** Returns the tab after the actions, its captures, and functions that lift the faults of the disk and end its delays. */
const play = async (actions: Action[]) => {
  const { world, store, openTab } = createFaultyWorld();
  const chunk = createTroubleSwitch();
  const tab = openTab({ options: { maxDelayMs: 0 }, loadTrouble: chunk.load });
  await world.settle();
  const captured: Promise<BannerEvent | null>[] = [];
  const answers: (() => void)[] = [];
  const answerAll = () => {
    for (const each of answers.splice(0)) each();
  };
  const recover = () => {
    store.recover();
    answerAll();
  };
  const verbs: { [Verb in Exclude<Action['do'], 'capture' | 'fault' | 'advance'>]: () => unknown } = {
    flush: () =>
      void tab.delivery.flush().catch((cause) => {
        if (!isUnavailable(cause)) throw cause;
      }),
    recover,
    answer: () => answers.shift()?.(),
    hide: () => tab.tell('hidden'),
    show: () => tab.tell('visible'),
    'block chunk': chunk.block,
    'allow chunk': chunk.allow,
  };
  for (const step of actions) {
    if (step.do === 'capture') {
      for (let i = 0; i < step.count; i += 1) {
        const bannerId = `b${captured.length}`;
        const once = step.isCounted && i % 2 === 0 ? { dedupName: bannerId } : {};
        captured.push(
          tab.delivery.capture({ type: 'impression', bannerId, placementId: 'p', userId: 'u', ...once }),
        );
      }
      await world.settle();
    } else if (step.do === 'fault') {
      const { promise: until, resolve, reject } = Promise.withResolvers<void>();
      until.catch(() => undefined);
      answers.push(() => (step.fault === 'wait' ? resolve() : reject(new DOMException('', 'UnknownError'))));
      const fault: StoreFault = step.fault.startsWith('wait')
        ? { type: 'wait', until }
        : { type: step.fault as 'reject' | 'lose-answer', error: 'UnknownError' };
      store.fail(fault, { times: step.times, ...(step.verbs && { verbs: step.verbs }) });
    } else if (step.do === 'advance') await world.clock.advance(step.ms);
    else verbs[step.do]();
    await world.settle();
  }
  return { world, chunk, tab, captured, recover, answerAll };
};

const checkDelivery = async (actions: Action[]): Promise<void> => {
  const { world, chunk, tab, captured, recover } = await play(actions);
  chunk.allow();
  recover();
  tab.tell('visible');
  await world.clock.advance(HOUR_MS);
  await world.clock.advance(HOUR_MS);
  const stored = await Promise.all(captured);
  const ids = world.service.events.map(({ bannerId }) => bannerId).sort();
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(stored.map((event) => event?.bannerId).sort());
  const diagnostics = await tab.delivery.diagnostics();
  assertConserved(diagnostics);
  expect(diagnostics).toMatchObject({ pending: 0, inDoubt: 0, memoryMode: false });
};

test(
  'delivers and counts every event once if storage rejects, loses or delays operations',
  async () => {
    await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 20 }), checkDelivery), {
      numRuns: RUNS,
    });
  },
  patience(times(60_000)),
);

/** Checks that an opt-out after the actions is on the disk once the disk works, even if the trouble chunk cannot be loaded. */
const checkOptOut = async (actions: Action[], decision: 'keep' | 'purge' | 'wipe'): Promise<void> => {
  const { world, tab, recover, answerAll } = await play(actions);
  // IndexedDB runs no write before an earlier one.
  answerAll();
  await world.settle();
  void (decision === 'wipe' ? tab.delivery.wipe() : tab.delivery.disable(decision));
  await world.settle();
  recover();
  await world.clock.advance(2 * MINUTE_MS);
  if (decision === 'wipe') expect(world.records()).toEqual([]);
  else expect(world.state()).toMatchObject({ consent: decision === 'purge' ? 'disabled' : 'keep' });
  const kinds = new Set(world.records().map(([key]) => (key as string[])[0]));
  if (decision === 'purge') expect([...kinds]).toEqual(['control']);
  const sent = world.service.requests.length;
  tab.kill();
  world.openTab();
  await world.clock.advance(10 * MINUTE_MS);
  expect(world.service.requests.length).toBe(sent);
};

test(
  'an opt-out reaches storage that rejects, loses or delays operations, with or without the trouble chunk',
  async () => {
    const actions = fc.array(action, { minLength: 10, maxLength: 10 });
    const decision = fc.constantFrom('keep' as const, 'purge' as const, 'wipe' as const);
    await fc.assert(fc.asyncProperty(actions, decision, checkOptOut), { numRuns: RUNS });
  },
  patience(times(60_000)),
);
