import { DAY_MS, MINUTE_MS } from '../../../src/protocol/index.ts';
import { CURRENCY, findProduct } from '../../shop/catalogue.ts';
import { APP_ID } from '../keys.ts';

/** Number of sample users. */
export const PEOPLE = 3_000;
/** Number of days. The last day ends when the demo starts. */
export const DAYS = 30;

/** Returns a seeded generator of random numbers from 0 to 1 (mulberry32). */
const createChances = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Sample user. */
export interface Person {
  id: string;
  attributes: Record<string, unknown>;
  /** Days with a visit, numbered from 0. */
  days: number[];
  chance: () => number;
}

const NAMES = [
  'Ada',
  'Ben',
  'Chiara',
  'Daan',
  'Edda',
  'Farid',
  'Greta',
  'Hugo',
  'Ines',
  'Jana',
  'Karim',
  'Lena',
];
const LANGUAGES = ['en', 'en', 'en', 'en', 'en', 'de', 'de', 'de', 'de-AT', 'ar'];

const pick = <T>(values: readonly T[], chance: number): T => values[Math.floor(chance * values.length)]!;

const createPerson = (index: number): Person => {
  const chance = createChances(index);
  const arrival = Math.floor(chance() * DAYS);
  const again = arrival + 1 + Math.floor(chance() * 6);
  return {
    id: `made-up-${String(index).padStart(4, '0')}`,
    attributes: {
      first_name: pick(NAMES, chance()),
      language: pick(LANGUAGES, chance()),
      made_up: true,
      ...(chance() < 0.06 && { tier: 'gold' }),
    },
    days: chance() < 0.3 && again < DAYS ? [arrival, again] : [arrival],
    chance,
  };
};

/** Returns the sample users. Deterministic. */
export const makePeople = (): Person[] => Array.from({ length: PEOPLE }, (_, index) => createPerson(index));

/** Parts of a banner that affect a visit. */
export interface SeenBanner {
  id: string;
  placement_id: string;
  is_control: boolean;
  properties: Record<string, { value: unknown }> | null;
}

/**
 * Response rates by link of the banner: clicks as a share of impressions, and carts as a share of users who saw the banner.
 * `unseen` is the share without an impression.
 */
const TAKEN: Record<string, { click: number; cart: number; unseen?: number }> = {
  // Variants of the spring collection. The shelf performs better.
  '/#/product/teapot': { click: 0.07, cart: 0.05 },
  '/#/product/vase': { click: 0.13, cart: 0.1 },
  '/#/product/candle': { click: 0.08, cart: 0.05 },
  // Ad blockers block the host of the plate's image, so some impressions are missing, which causes an SRM.
  '/#/product/plate': { click: 0.06, cart: 0.05, unseen: 0.4 },
};
const ORDINARY = { click: 0.05, cart: 0.05, unseen: 0 };
/** Purchase rates of the candlesticks. The campaign about gift wrapping has a lift over the control group. */
const CANDLES = { shown: 0.16, control: 0.04 };

/** Banner events, custom events and purchases of a visit. */
export interface Visit {
  bannerEvents: { id: string; event_type: string; timestamp: string }[];
  events: Record<string, unknown>[];
  purchases: Record<string, unknown>[];
}

/** Returns the visit of a user with these banners on the day that starts at `dayMs`. */
export const createVisit = ({ id, chance }: Person, banners: readonly SeenBanner[], dayMs: number): Visit => {
  const atMs = dayMs + Math.floor(chance() * (DAY_MS - 60 * MINUTE_MS));
  const after = (minutes: number) => new Date(atMs + minutes * MINUTE_MS).toISOString();
  const visit: Visit = { bannerEvents: [], events: [], purchases: [] };
  const did = { external_id: id, app_id: APP_ID };
  for (const { id: bannerId, placement_id: placement, is_control: isControl, properties } of banners) {
    const { click, cart, unseen = 0 } = TAKEN[String(properties?.['link']?.value)] ?? ORDINARY;
    const [sees, clicks, dismisses, fills, buys] = [chance(), chance(), chance(), chance(), chance()];
    if (sees < unseen) continue;
    const add = (event_type: string, minutes: number) =>
      visit.bannerEvents.push({ id: bannerId, event_type, timestamp: after(minutes) });
    add('impression', 0);
    if (!isControl && clicks < click) add('click', 1);
    else if (!isControl && properties?.['dismissible']?.value === true && dismisses < 0.04) add('dismiss', 1);
    if (placement === 'home_hero' && fills < cart) {
      visit.events.push({ ...did, name: 'added_to_cart', time: after(5) });
    }
    if (placement === 'sidebar_promo' && buys < (isControl ? CANDLES.control : CANDLES.shown)) {
      const { price } = findProduct('candle')!;
      const bought = { product_id: 'candle', currency: CURRENCY, price, quantity: 1 };
      visit.purchases.push({ ...did, ...bought, time: after(20) });
    }
  }
  return visit;
};
