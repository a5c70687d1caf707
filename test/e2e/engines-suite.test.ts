import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from 'vitest';
import { createFakeService } from '../../src/testing/index.ts';
import { ENGINES, type Engine, type EnginePage } from '../helpers/engines.ts';
import { type Handler, type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { consent } from './engines/consent.ts';
import { delivery } from './engines/delivery.ts';
import { painting } from './engines/painting.ts';
import type { Scenario, World } from './engines/scenario.ts';
import { shop, stockBanners } from './engines/shop.ts';
import { storage } from './engines/storage.ts';
import { strictPage } from './engines/strict-page.ts';
import { viewability } from './engines/viewability.ts';

/** What each engine is asked, in one browser of its own. */
const SCENARIOS: Scenario[] = [
  ...viewability,
  ...painting,
  ...strictPage,
  ...delivery,
  ...storage,
  ...consent,
];

let pages: PageServer;
/** Each scenario has an origin, and with it a storage, of its own. */
let origins: string[];

beforeAll(async () => {
  pages = await startPageServer({
    entries: ['index', 'templates'],
    modules: { 'idb-store': 'src/client/platform/idb-store.ts' },
    origins: ENGINES.length * SCENARIOS.length,
  });
  origins = [...pages.origins];
});
afterAll(() => pages?.close());

/** The handler, and the most requests to `track` that it had open at the same time. */
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

describe.each(ENGINES)('$name', (kind) => {
  if (kind.missing) {
    // The runner's short report leaves out what was skipped.
    console.log(`Engine skipped: ${kind.name}, ${kind.missing}`);
    it.skip(`is not here: ${kind.missing}`, () => undefined);
    return;
  }

  let engine: Engine;
  let api: HttpServer;
  let world: World;
  let opened: EnginePage[];

  beforeAll(async () => {
    engine = await kind.launch();
    console.log(`Engine under test: ${engine.version}`);
  });
  afterAll(async () => {
    await engine?.close();
  });
  beforeEach(async () => {
    const fake = createFakeService();
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
    // A scenario may have closed or killed one of its pages.
    for (const page of opened) await page.close().catch(() => undefined);
    await api.close();
  });

  for (const { name, needs, run } of SCENARIOS) {
    const reason = needs && kind.cannot[needs];
    if (reason) {
      console.log(`Skipped in ${kind.name}: ${name} (${reason})`);
      it.skip(`${name} (${reason})`, () => undefined);
    } else it(name, () => run(world));
  }
});
