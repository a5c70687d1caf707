import { createDelivery } from '../../../src/client/delivery/create-delivery.ts';
import type { DeliveryOptions } from '../../../src/client/index.ts';
import { createNotices, type Notice } from '../../../src/client/notices.ts';
import { logName } from '../../../src/client/options/options.ts';
import { createPermission } from '../../../src/client/permission.ts';
import { createClock } from '../../../src/client/platform/clock.ts';
import { createPostJson, createUserTokens } from '../../../src/client/platform/http.ts';
import { createIdbStore } from '../../../src/client/platform/idb-store.ts';
import { createPageLifecycle, withLifecycle } from '../../../src/client/platform/page.ts';
import { withConsent } from '../../helpers/with-consent.ts';

declare global {
  var delivery: ReturnType<typeof withConsent>;
  var heard: Notice[];
  /** Set by a test: responses are held back from the client until it resolves. */
  var gate: Promise<unknown> | undefined;
  /** `pageshow` events, with whether the page was restored from the bfcache. */
  var shows: boolean[];
}

/** A page with only the delivery half of the client; the query holds the endpoint and the options. */
const query = new URLSearchParams(location.search);
const options = JSON.parse(query.get('options') ?? '{}') as Partial<DeliveryOptions>;

globalThis.heard = [];
const { notify, fail, subscribe } = createNotices();
subscribe((notice) => globalThis.heard.push(notice));
const loadTrouble = () => import('../../../src/client/trouble-chunk.ts');
const endpoint = query.get('api') ?? location.origin;
const clock = createClock();
const lifecycle = createPageLifecycle();
const initial = query.get('consent') === 'disabled' ? 'disabled' : 'enabled';
const permission = withLifecycle(
  createPermission(initial, Date.now, () => false),
  lifecycle,
);
const made = createDelivery(
  {
    postJson: createPostJson(endpoint, clock.after, async (input, init) => {
      const answer = await fetch(input, init);
      await globalThis.gate;
      return answer;
    }),
    apiKey: 'client-key',
    appId: 'app-1',
    appVersion: '1.0.0',
    logName: logName(endpoint, 'app-1'),
    delivery: options,
    onInvalidOption: (option) => fail('config', option),
    userTokens: createUserTokens(undefined, Date.now, fail),
    permission,
    notify,
    fail,
    openStore: createIdbStore,
    clock,
    random: Math.random,
    lifecycle,
  },
  loadTrouble,
);
globalThis.delivery = withConsent(made, permission);
// A prerendered page cannot be queried, so it stores its state, and a sign that it ran for longer than events wait.
const state = () => ((document as { prerendering?: boolean }).prerendering ? 'prerendering' : 'active');
localStorage.setItem('state', state());
setTimeout(() => localStorage.setItem('state', `${state()}, later`), 10 * (options.maxDelayMs ?? 0));
