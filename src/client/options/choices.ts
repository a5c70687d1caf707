import { EVENT_TYPES, type EventType, MAX_TRACK_BATCH } from '../../protocol/index.ts';
import type { Notify } from '../notices.ts';

/** What a chosen value must be: a number within these bounds, both included, or one of these words. */
export type Rule = readonly [min: number, max: number] | readonly string[];

/** For bounds: what has no limit by its nature may be `Infinity`. */
export const UNBOUNDED = Number.POSITIVE_INFINITY;

/**
 * The host's choices over the defaults. A page without types may choose anything: what is unknown or cannot be used is
 * reported by its name, and the default holds. `undefined` is no choice: hosts pass on what they may not have.
 */
export const chosenOptions = <T extends object>(
  group: string,
  defaults: T,
  chosen: Partial<T> | undefined,
  notify: Notify,
  /** Default: a number from 1 up. */
  rules: { [Name in keyof T]?: Rule },
): T => {
  const options = { ...defaults };
  for (const [name, value] of Object.entries(chosen ?? {}) as [keyof T & string, unknown][]) {
    if (value === undefined) continue;
    const rule: Rule = Object.hasOwn(defaults, name) ? (rules[name] ?? [1, UNBOUNDED]) : [];
    const [min, max] = rule as [number, number];
    const isNumber = typeof min === 'number';
    // NaN is within no bounds.
    const isWithin = typeof value === 'number' && value >= min && value <= max;
    if (isNumber ? isWithin : rule.includes(value as never)) options[name] = value as never;
    else {
      const range = `a number from ${min} ${max === UNBOUNDED ? 'up' : `to ${max}`}`;
      const expected = isNumber ? range : rule.join(' or ') || 'left out: it is unknown';
      notify({ type: 'failed', kind: 'config', message: `Option "${group}${name}" must be ${expected}` });
    }
  }
  return options;
};

/** When banners are refreshed, and when an impression counts. */
export interface BannerOptions {
  /** Explicit refreshes a session starts with. Default 5. */
  refreshCapacity: number;
  /** Milliseconds until one more is granted. Default 180,000. */
  refreshIntervalMs: number;
  /** A session ends after this long without a visible page, in milliseconds. Default 30 minutes. */
  sessionTimeoutMs: number;
  /** Whether one impression per banner counts per session (all tabs) or per tab. Default `'session'`. */
  impressionScope: 'session' | 'tab';
}

const DEFAULTS: BannerOptions = {
  refreshCapacity: 5,
  refreshIntervalMs: 180_000,
  sessionTimeoutMs: 30 * 60_000,
  impressionScope: 'session',
};

const YEAR_MS = 365 * 24 * 60 * 60_000;

const RULES: Parameters<typeof chosenOptions<BannerOptions>>[4] = {
  refreshCapacity: [0, UNBOUNDED],
  refreshIntervalMs: [1, YEAR_MS],
  impressionScope: ['session', 'tab'],
};

/** The host's choices over the defaults. */
export const bannerOptions = (chosen: Partial<BannerOptions> | undefined, notify: Notify): BannerOptions =>
  chosenOptions('banners.', DEFAULTS, chosen, notify, RULES);

/** What happens to an event whose answer was never read. */
export type InDoubtPolicy = 'at-least-once' | 'at-most-once';

/** How events are stored and sent. */
export interface DeliveryOptions {
  /** Events in one batch. Default 50. */
  maxBatch: number;
  /** Longest an event waits for company, in milliseconds. Default 5,000. */
  maxWaitMs: number;
  /** How often an event is sent before a skip makes it a dead letter. Default 3. */
  maxAttempts: number;
  /** Caps of what is stored: events, bytes, age in milliseconds. Default 10,000, 2 MB, 7 days. */
  maxEvents: number;
  maxBytes: number;
  maxAgeMs: number;
  /** Per event type. Default `at-least-once` for all. */
  inDoubt: Record<EventType, InDoubtPolicy>;
  /** Longest wait for an answer, in milliseconds, at most 5 minutes. Default 30,000. */
  timeoutMs: number;
}

/** What a host may choose of them. */
export type DeliveryChoices = Partial<Omit<DeliveryOptions, 'inDoubt'>> & {
  inDoubt?: Partial<DeliveryOptions['inDoubt']>;
};

/** A limit that every tab knows: a request that takes longer is one whose page is gone. */
const MAX_TIMEOUT_MS = 5 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

const NUMBERS = {
  maxBatch: MAX_TRACK_BATCH,
  maxWaitMs: 5_000,
  maxAttempts: 3,
  maxEvents: 10_000,
  maxBytes: 2_000_000,
  maxAgeMs: 7 * DAY_MS,
  timeoutMs: 30_000,
};

/** The same for each event type there is. */
const forEachType = <T>(value: T): Record<EventType, T> =>
  Object.fromEntries(EVENT_TYPES.map((type) => [type, value])) as Record<EventType, T>;

/** The host's choices over the defaults. */
export const deliveryOptions = (chosen: DeliveryChoices | undefined, notify: Notify): DeliveryOptions => {
  const { inDoubt, ...numbers } = chosen ?? {};
  return {
    ...chosenOptions('delivery.', NUMBERS, numbers, notify, {
      maxWaitMs: [0, UNBOUNDED],
      timeoutMs: [1, MAX_TIMEOUT_MS],
    }),
    inDoubt: chosenOptions(
      'delivery.inDoubt.',
      forEachType<InDoubtPolicy>('at-least-once'),
      inDoubt,
      notify,
      forEachType(['at-least-once', 'at-most-once']),
    ),
  };
};
