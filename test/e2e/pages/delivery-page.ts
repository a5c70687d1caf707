import { createDelivery, type Delivery, type DeliverySetup } from '../../../src/client/delivery/index.ts';
import type { DeliveryOptions } from '../../../src/client/index.ts';
import type { Notice } from '../../../src/client/notice.ts';
import { createClock } from '../../../src/client/platform/clock.ts';
import { createIdbStore } from '../../../src/client/platform/idb-store.ts';

declare global {
  var delivery: Delivery;
  var heard: Notice[];
  /** Set by a test: answers are kept from the client until it resolves. */
  var gate: Promise<unknown> | undefined;
  /** Requests that were left to the browser. */
  var deferred: number;
  /** `pageshow` events, with whether the page came out of the bfcache. */
  var shows: boolean[];
}

/** A page with nothing but the delivery half of the client; the query says where the service is and which options count. */
const query = new URLSearchParams(location.search);
const options = JSON.parse(query.get('options') ?? '{}') as Partial<DeliveryOptions>;

const { fetchLater } = globalThis as Pick<DeliverySetup, 'fetchLater'>;
const countingFetchLater: DeliverySetup['fetchLater'] = (url, init) => {
  const request = fetchLater!(url, init);
  globalThis.deferred += 1;
  return request;
};

globalThis.heard = [];
globalThis.deferred = 0;
globalThis.delivery = createDelivery({
  endpoint: query.get('api') ?? location.origin,
  apiKey: 'client-key',
  appId: 'app-1',
  appVersion: '1.0.0',
  consent: query.get('consent') === 'disabled' ? 'disabled' : 'enabled',
  options,
  openStore: createIdbStore,
  clock: createClock(),
  notify: (notice) => globalThis.heard.push(notice),
  // `never`: as an engine without it.
  ...(query.get('later') !== 'never' && fetchLater && { fetchLater: countingFetchLater }),
  async fetch(input, init) {
    const answer = await fetch(input, init);
    await globalThis.gate;
    return answer;
  },
});
// A prerendered page cannot be asked, but it can leave word.
localStorage.setItem(
  'state',
  (document as { prerendering?: boolean }).prerendering ? 'prerendering' : 'active',
);
