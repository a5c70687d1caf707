import { afterAll, beforeAll, describe, type ExpectStatic, it } from 'vitest';
import { createFakeService } from '../../../src/testing/index.ts';
import type { Engine, EngineKind, EnginePage } from '../../helpers/engines.ts';
import { RENDERED } from '../../helpers/first-html.ts';
import { type Handler, serveHandler } from '../../helpers/http-server.ts';
import { needs } from '../../helpers/machine.ts';
import { startPageServer } from '../../helpers/page-server.ts';
import { consent } from './consent.ts';
import { delivery } from './delivery.ts';
import { devtools } from './devtools.ts';
import { painting } from './painting.ts';
import { placementsBySelector, SELECTOR_PLACEMENTS } from './placements-by-selector.ts';
import type { Scenario } from './scenario.ts';
import { serverRendering } from './server-rendering.ts';
import { shop, stockBanners } from './shop.ts';
import { storage } from './storage.ts';
import { strictPage } from './strict-page.ts';
import { viewability } from './viewability.ts';
import { visibleContent } from './visible-content.ts';
import { visitors } from './visitors.ts';

const SCENARIOS: Scenario[] = [
  ...viewability,
  ...visibleContent,
  ...painting,
  ...placementsBySelector,
  ...serverRendering,
  ...strictPage,
  ...delivery,
  ...storage,
  ...consent,
  ...visitors,
  ...devtools,
];

/** The handler, and its maximum number of concurrent `track` requests. */
const countingTracks = (handle: Handler) => {
  let open = 0;
  let most = 0;
  const counting: Handler = async (request) => {
    const isTrack = request.method === 'POST' && request.url.endsWith('/track');
    open += Number(isTrack);
    most = Math.max(most, open);
    try {
      return await handle(request);
    } finally {
      open -= Number(isTrack);
    }
  };
  return { counting, mostAtOnce: () => most };
};

/** Runs every scenario in one engine, in its own browser. */
export const playScenarios = (kind: EngineKind): void => {
  describe(kind.name, () => {
    if (kind.missing) {
      it('plays every scenario', needs(kind.missing, false), () => undefined);
      return;
    }

    let engine: Engine;
    beforeAll(async () => {
      engine = await kind.launch();
      console.log(`Engine under test: ${engine.version}`);
    });
    afterAll(() => engine?.close());

    /** Each scenario has its own service and origin, and so its own storage. */
    const play = async ({ run }: Scenario, expect: ExpectStatic): Promise<void> => {
      const pages = await startPageServer({
        entries: ['index', 'templates', 'devtools'],
        modules: { 'idb-store': 'src/client/platform/idb-store.ts', ...RENDERED },
      });
      const fake = createFakeService({ users: 'everyone', placements: SELECTOR_PLACEMENTS });
      stockBanners(fake);
      const { counting, mostAtOnce } = countingTracks(fake.handle);
      const api = await serveHandler(counting);
      pages.set('/shop', shop(api.origin));
      const { origin } = pages;
      const opened: EnginePage[] = [];
      const open = async (path = '/shop') => {
        const page = await engine.newPage();
        opened.push(page);
        await page.goto(origin + path);
        return page;
      };
      try {
        await run({ fake, api, pages, origin, open, mostAtOnce, expect });
      } finally {
        // A scenario may have closed or crashed one of its pages.
        for (const page of opened) await page.close().catch(() => undefined);
        await api.close();
        await pages.close();
      }
    };

    // Scenarios mostly wait. Those that need a state play alone, because it may apply to every page of the engine.
    const [alone, beside] = [SCENARIOS.filter((each) => each.needs), SCENARIOS.filter((each) => !each.needs)];
    for (const scenario of alone) {
      const { name, needs: state } = scenario;
      const reason = kind.cannot[state!];
      it(name, needs(`another engine: ${reason}`, reason === undefined), ({ expect }) =>
        play(scenario, expect),
      );
    }
    for (const scenario of beside) {
      it.concurrent(scenario.name, ({ expect }) => play(scenario, expect));
    }
  });
};
