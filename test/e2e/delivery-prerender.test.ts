import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BareBrowser, launchBareBrowser } from '../helpers/bare-browser.ts';
import { api, deliveryUrl, pages, service, stageDelivery } from '../helpers/delivery-stage.ts';

let browser: BareBrowser;

stageDelivery();
beforeAll(async () => {
  browser = await launchBareBrowser();
});
afterAll(() => browser?.close());

test('cases 31 and 32: a prerendered page does not send anything until it is activated', async () => {
  const tab = await browser.newTab(deliveryUrl(pages.origin, api.origin, { maxDelayMs: 600_000 }));
  await expect.poll(() => tab.evaluate('typeof globalThis.delivery')).toBe('object');
  // Waits for the first read of the store, because records that it finds belong to an earlier page, and are sent at once.
  await tab.evaluate('delivery.flush().then(() => true)');
  // Stored by a closed page: the next page sends it.
  await tab.evaluate(
    `delivery.capture({ type: 'click', bannerId: 'b', placementId: 'p', userId: 'u1' }).then(() => delivery.stop())`,
  );
  expect(service.requests).toHaveLength(0);
  const target = deliveryUrl(pages.origin, api.origin, { maxDelayMs: 100 });
  await tab.goto(`${pages.origin}/bare`);
  await expect.poll(() => tab.evaluate('location.pathname + document.readyState')).toBe('/barecomplete');
  await tab.evaluate(`{
    const rules = document.createElement('script');
    rules.type = 'speculationrules';
    rules.textContent = JSON.stringify({ prerender: [{ source: 'list', urls: [${JSON.stringify(target)}], eagerness: 'immediate' }] });
    document.head.append(rules);
  }`);
  // The page itself reports that it runs, its state, and that its delivery has had time to send.
  await expect.poll(() => tab.evaluate('localStorage.getItem("state")')).toBe('prerendering, later');
  expect(service.requests).toHaveLength(0);
  await tab.evaluate(`void setTimeout(() => { location.href = ${JSON.stringify(target)}; })`);
  await expect.poll(() => service.events.length).toBe(1);
  expect(await tab.evaluate('performance.getEntriesByType("navigation")[0].activationStart')).toBeGreaterThan(
    0,
  );
  expect(service.requests).toHaveLength(1);
});
