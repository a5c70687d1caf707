import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from 'vitest';
import { createFakeService } from '../../../src/testing/index.ts';
import type { Engine, EngineKind, EnginePage } from '../../helpers/engines.ts';
import { RENDERED } from '../../helpers/first-html.ts';
import { type Handler, type HttpServer, serveHandler } from '../../helpers/http-server.ts';
import { needs } from '../../helpers/machine.ts';
import { type PageServer, startPageServer } from '../../helpers/page-server.ts';
import { consent } from './consent.ts';
import { delivery } from './delivery.ts';
import { devtools } from './devtools.ts';
import { painting } from './painting.ts';
import { placementsBySelector, SELECTOR_PLACEMENTS } from './placements-by-selector.ts';
import type { Scenario, World } from './scenario.ts';
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
    let pages: PageServer;
    /** Each scenario has its own origin, and so its own storage. */
    let origins: string[];
    let api: HttpServer;
    let world: World;
    let opened: EnginePage[];

    beforeAll(async () => {
      engine = await kind.launch();
      console.log(`Engine under test: ${engine.version}`);
      pages = await startPageServer({
        entries: ['index', 'templates', 'devtools'],
        modules: { 'idb-store': 'src/client/platform/idb-store.ts', ...RENDERED },
        origins: SCENARIOS.length,
      });
      origins = [...pages.origins];
    });
    afterAll(async () => {
      await engine?.close();
      await pages?.close();
    });
    beforeEach(async () => {
      const fake = createFakeService({ users: 'everyone', placements: SELECTOR_PLACEMENTS });
      stockBanners(fake);
      const { counting, mostAtOnce } = countingTracks(fake.handle);
      api = await serveHandler(counting);
      pages.set('/shop', shop(api.origin));
      opened = [];
      const origin = origins.shift()!;
      const open = async (path = '/shop') => {
        const page = await engine.newPage();
        opened.push(page);
        await page.goto(origin + path);
        return page;
      };
      world = { fake, api, pages, origin, open, mostAtOnce };
    });
    afterEach(async () => {
      // A scenario may have closed or crashed one of its pages.
      for (const page of opened) await page.close().catch(() => undefined);
      await api.close();
    });

    for (const { name, needs: state, run } of SCENARIOS) {
      const reason = state && kind.cannot[state];
      it(name, needs(`another engine: ${reason}`, reason === undefined), () => run(world));
    }
  });
};
