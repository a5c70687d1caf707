import { PREVIEW_PARAMETER, PREVIEW_PATH } from '../../src/protocol/index.ts';
import { APP_ID } from './a-workspace.ts';

const CLIENT_KEY = 'demo-client-key';
const SERVER_KEY = 'demo-server-key';
const AT_ONCE = 20;

const post = async (url: string, path: string, key: string, body: unknown) => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      // Events of Node's own are a bot's, and in no count.
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};

/** Returns the status and the headline of the home page that the shop gets for the token of a preview link. */
export const openPreviewLink = async (
  url: string,
  link: string,
): Promise<{ status: number; headline?: string; isTestSend?: boolean }> => {
  const response = await fetch(url + PREVIEW_PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ token: new URLSearchParams(new URL(link).hash.slice(1)).get(PREVIEW_PARAMETER) }),
  });
  const banner = (await response.json()).banners?.['home_hero'];
  return {
    status: response.status,
    ...(banner && { headline: banner.properties.headline.value, isTestSend: banner.is_test_send }),
  };
};

/** Users who saw it, and users who clicked. */
interface Seen {
  n: number;
  successes: number;
}

export interface Week {
  /** Those who saw the first variant, and the second. */
  a: Seen;
  b: Seen;
  /** Those of the control group. */
  held: number;
}

/**
 * Simulates visitors of a shop, all gold customers, who sync, see a banner, click and buy. The variant of a visitor differs by
 * campaign, so actions alternate within each group: 30% of variant B click, 10% of A, and 20% of every group buy a teapot. Random
 * purchases could make a group win by chance.
 */
export const simulateVisitors = async (url: string, count: number): Promise<Week> => {
  const ids = Array.from({ length: count }, (_, index) => `visitor-${index}`);
  const week: Week = { a: { n: 0, successes: 0 }, b: { n: 0, successes: 0 }, held: 0 };
  const visit = async (id: string) => {
    await post(url, '/users/track', SERVER_KEY, { attributes: [{ external_id: id, tier: 'gold' }] });
    const envelope = { external_user_id: id, app_id: APP_ID, app_version: '1.0.0' };
    const { banners } = await post(url, '/v1/device-messaging/banners/sync', CLIENT_KEY, {
      ...envelope,
      placements: ['home_hero'],
    });
    const banner = banners['home_hero'];
    const now = Date.now();
    const event = (event_type: string, ms: number) => ({
      id: banner.id,
      event_type,
      timestamp: new Date(ms).toISOString(),
    });
    const variant = banner.properties?.headline.value.startsWith('Last days') ? 'b' : 'a';
    const turn = banner.is_control ? week.held++ : week[variant].n++;
    const isClicked = !banner.is_control && turn % 10 < (variant === 'b' ? 3 : 1);
    if (isClicked) week[variant].successes += 1;
    await post(url, '/v1/device-messaging/banners/track', CLIENT_KEY, {
      ...envelope,
      events: [event('impression', now - 2_000), ...(isClicked ? [event('click', now - 1_000)] : [])],
    });
    if (turn % 5 > 0) return;
    const purchase = { product_id: 'teapot', currency: 'EUR', price: 84, time: new Date(now).toISOString() };
    await post(url, '/users/track', SERVER_KEY, {
      purchases: [{ external_id: id, app_id: APP_ID, ...purchase }],
    });
  };
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    await Promise.all(ids.slice(from, from + AT_ONCE).map(visit));
  }
  return week;
};
