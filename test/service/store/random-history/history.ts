// A random history of banner events, events, merges, erasures, goals and retention. Each batch derives from the seed and its number
// alone, so a killed process can continue where the database is.
import { EVENT_TYPES } from '../../../../src/protocol/index.ts';
import type { NewBannerEvent } from '../../../../src/service/profiles/events.ts';
import type { UserRepository } from '../../../../src/service/profiles/user-repository.ts';
import type { Goal } from '../../../../src/service/store/index.ts';
import { aBannerEvent } from '../../../helpers/banner-events.ts';
import { anEvent, aPurchase, byExternalId } from '../examples.ts';

export const WORKSPACE = 'demo';
/** Of the days of conversions. */
export const TIME_ZONE = 'Asia/Kathmandu';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 2, 27, 12);
const LASTS_DAYS = 120;
const RETENTION_DAYS = 20;
const USERS = 300;
export const EVENTS_PER_BATCH = 50;
/** Name of the user whose profile has the number of the last batch. */
export const MARKER = 'marker';

const HOLDOUT = '@holdout:1';
export const GOALS: Record<string, Goal[]> = {
  'c-0': [
    { event: 'signed_up', withinMs: 5 * DAY },
    { product: 'cup', withinMs: 40 * DAY },
  ],
  'c-1': [{ product: 'cup', withinMs: 60 * DAY }],
  'c-2': [{ event: 'signed_up', withinMs: HOUR }],
  [HOLDOUT]: [{ product: 'cup', withinMs: 30 * DAY }],
};

export type Change =
  | { do: 'see'; user: string; event: NewBannerEvent }
  | { do: 'event'; user: string; name: string; timeMs: number }
  | { do: 'purchase'; user: string; product: string; price: number; currency: string; timeMs: number }
  | { do: 'merge'; kept: string; merged: string }
  | { do: 'erase'; user: string };

/** Action after a batch. Repeating it has no effect. */
export type Action =
  | { do: 'nothing' }
  | { do: 'catch up' }
  | { do: 'add goals'; campaignId: string; count: number }
  | { do: 'prune'; beforeMs: number };

export interface Batch {
  number: number;
  nowMs: number;
  changes: Change[];
  action: Action;
}

/** Mulberry32. */
const createRandom = (seed: number) => {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (limit: number) => Math.floor(next() * limit),
    chance: (share: number) => next() < share,
    of: <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)]!,
  };
};

/** Of batches `1` to `batches`. */
export const batchAt = (seed: number, number: number, batches: number): Batch => {
  const random = createRandom(seed * 1_000_003 + number);
  const nowMs = START + Math.floor((number * LASTS_DAYS * DAY) / batches);
  // Few users have most events.
  const user = () => `u-${random.below(random.chance(0.5) ? USERS / 10 : USERS)}`;
  const late = () => random.of([0, 0, 0, 0, 0, 2 * HOUR, 3 * DAY, 30 * DAY]);

  const see = (index: number): Change => {
    const campaignId = random.of(['c-0', 'c-0', 'c-1', 'c-2']);
    const variantId = random.of(['a', 'b', null]);
    const placementId = random.of(['home', 'side']);
    const language = random.of(['en', 'pt-BR', null]);
    const holdoutId = random.of([HOLDOUT, null]);
    const isTestSend = random.chance(0.05);
    const isAhead = random.chance(0.05);
    // Times on a grid, so that events repeat.
    const grid = Math.floor(nowMs / (10 * MINUTE)) * 10 * MINUTE - late();
    const event = aBannerEvent({
      campaignId,
      variantId,
      placementId,
      language,
      holdoutId,
      isTestSend,
      isControl: variantId === null,
      bannerId: `bnr ${campaignId} ${variantId} ${placementId} ${language} ${holdoutId} ${isTestSend}`,
      eventType: random.of(['impression', ...EVENT_TYPES] as const),
      timeMs: isAhead ? nowMs + 26 * HOUR + index : grid,
      receivedAtMs: nowMs,
    });
    return { do: 'see', user: user(), event };
  };

  const changes: Change[] = [];
  for (let index = 0; index < EVENTS_PER_BATCH; index += 1) {
    const timeMs = nowMs - late();
    if (random.chance(0.6)) changes.push(see(index));
    else if (random.chance(0.5))
      changes.push({ do: 'event', user: user(), name: random.of(['signed_up', 'left']), timeMs });
    else {
      const [product, price, currency] = [
        random.of(['cup', 'pot']),
        random.of([5, -2, 1.25]),
        random.of(['EUR', 'EUR', 'PLN']),
      ];
      changes.push({ do: 'purchase', user: user(), product, price, currency, timeMs });
    }
    if (random.chance(0.01)) changes.push({ do: 'merge', kept: user(), merged: user() });
    if (random.chance(0.004)) changes.push({ do: 'erase', user: user() });
  }

  const action = (): Action => {
    const pruneEvery = Math.max(5, Math.floor(batches / 40));
    if (number % pruneEvery === 0) return { do: 'prune', beforeMs: nowMs - RETENTION_DAYS * DAY };
    if (random.chance(0.1)) {
      const campaignId = random.of(Object.keys(GOALS));
      return { do: 'add goals', campaignId, count: random.below(GOALS[campaignId]!.length + 1) };
    }
    return { do: random.chance(0.3) ? 'catch up' : 'nothing' };
  };
  return { number, nowMs, changes, action: action() };
};

/** Applies the changes of a batch to the users of a store. */
export const applyBatch = (users: UserRepository, { number, nowMs, changes }: Batch): void => {
  const getProfile = (externalId: string) =>
    users.find(byExternalId(externalId))[0] ?? users.create({ externalId }, nowMs);
  for (const change of changes) {
    switch (change.do) {
      case 'see':
        users.recordBannerEvents(change.user, [change.event], nowMs, true);
        break;
      case 'event': {
        const profile = getProfile(change.user);
        users.record(profile, { ...anEvent(profile, change.name, change.timeMs), receivedAtMs: nowMs });
        users.changed(profile, nowMs);
        break;
      }
      case 'purchase': {
        const { user, product, price, currency, timeMs } = change;
        const profile = getProfile(user);
        const purchase = aPurchase(profile, product, timeMs);
        users.record(profile, { ...purchase, price, currency, quantity: 1, receivedAtMs: nowMs });
        users.changed(profile, nowMs);
        break;
      }
      case 'merge':
        if (change.kept !== change.merged)
          users.merge(getProfile(change.kept), getProfile(change.merged), nowMs);
        break;
      case 'erase':
        users.eraseByExternalId(change.user);
    }
  }
  const marker = getProfile(MARKER);
  marker.custom = { ...marker.custom, batch: number };
  users.changed(marker, nowMs);
};

export const getLookups = ({ changes }: Batch) => {
  const names = changes.flatMap((change) =>
    change.do === 'merge' ? [change.kept, change.merged] : [change.user],
  );
  return [...new Set([...names, MARKER])].map(byExternalId);
};
