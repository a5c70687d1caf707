// @vitest-environment node
import { expect, test } from 'vitest';
import type { BannerEvent } from '../../../src/client/banner.ts';
import { assertConserved, type StoreFault, type StoreVerb } from '../../../src/testing/index.ts';
import { patience } from '../../helpers/patience.ts';
import fc, { times } from '../../helpers/property.ts';
import { createFaultyWorld } from './world.ts';

const RUNS = times(200);
const HOUR_MS = 60 * 60_000;

type Action =
  | { do: 'capture'; count: number; isCounted: boolean }
  | {
      do: 'fault';
      fault: 'reject' | 'lose-answer' | 'wait' | 'wait and reject';
      verbs: StoreVerb[] | undefined;
      times: number;
    }
  | { do: 'advance'; ms: number }
  | { do: 'flush' | 'recover' | 'hide' | 'show' | 'answer' };

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
);

const play = async (actions: Action[]): Promise<void> => {
  const { world, store, openTab } = createFaultyWorld();
  const tab = openTab({ options: { maxDelayMs: 0 } });
  await world.settle();
  const captured: Promise<BannerEvent | null>[] = [];
  const answers: (() => void)[] = [];
  const recover = () => {
    store.recover();
    for (const each of answers.splice(0)) each();
  };
  const verbs: { [Verb in Exclude<Action['do'], 'capture' | 'fault' | 'advance'>]: () => unknown } = {
    flush: () => void tab.delivery.flush(),
    recover,
    answer: () => answers.shift()?.(),
    hide: () => tab.tell('hidden'),
    show: () => tab.tell('visible'),
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
    await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 20 }), play), {
      numRuns: RUNS,
    });
  },
  patience(times(60_000)),
);
