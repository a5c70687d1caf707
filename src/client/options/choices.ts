import { EVENT_TYPES, type EventType, type Instance, MAX_TRACK_BATCH } from '../../protocol/index.ts';
import type { Notify } from '../notices.ts';

/**
 * What an option is where the host chooses nothing, and what it may be: for a number its bounds, both included, for a word
 * the others.
 */
type Rule = readonly [value: number, min?: number, max?: number] | readonly [value: string, ...string[]];
type Rules<T> = { readonly [Name in keyof T]: Rule };

/** Any members of a type. Hosts pass on what they may not have: `undefined` is no choice. */
export type Choices<T> = { [Name in keyof T]?: T[Name] | undefined };

/** The host has made a mistake in its code: the notice names the option and what it must be. */
export const notifyWrong = (notify: Notify, option: string, expected: string): void =>
  notify({ type: 'failed', kind: 'config', message: `Option "${option}" must be ${expected}` });

/**
 * The host's choices over the defaults. A page without types may choose anything: what is unknown or cannot be used is
 * reported by its name, and the default holds.
 */
export const chosenOptions = <T extends object>(
  group: string,
  rules: Rules<T>,
  chosen: object | undefined,
  notify: Notify,
): T => {
  const all = Object.entries<Rule>(rules);
  const options: Record<string, unknown> = Object.fromEntries(all.map(([name, [value]]) => [name, value]));
  for (const [name, value] of Object.entries(chosen ?? {})) {
    if (value === undefined) continue;
    const rule = all.find(([known]) => known === name)?.[1] ?? [];
    // By its nature a number may have no limit, and be `Infinity`.
    const [usual, min = 1, max = Infinity] = rule as number[];
    const isNumber = typeof usual === 'number';
    // NaN is within no bounds.
    const isWithin = typeof value === 'number' && value >= min && value <= max;
    if (isNumber ? isWithin : rule.includes(value as never)) options[name] = value;
    else {
      const range = `a number from ${min} ${max === Infinity ? 'up' : `to ${max}`}`;
      const expected = isNumber ? range : rule.join(' or ') || 'left out: it is unknown';
      notifyWrong(notify, group + name, expected);
    }
  }
  return options as T;
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

const DAY_MS = 24 * 60 * 60_000;

const BANNERS: Rules<BannerOptions> = {
  refreshCapacity: [5, 0],
  refreshIntervalMs: [180_000, 1, 365 * DAY_MS],
  sessionTimeoutMs: [30 * 60_000],
  impressionScope: ['session', 'tab'],
};

/** The host's choices over the defaults. */
export const bannerOptions = (chosen: Choices<BannerOptions> | undefined, notify: Notify): BannerOptions =>
  chosenOptions('banners.', BANNERS, chosen, notify);

/**
 * `instance` names a hosted instance, `endpoint` is the base URL of any other. Beside `DeliveryChoices`, as both are types of the
 * service worker too: those of `options.ts` need a page's library.
 */
export type EndpointOptions =
  | { instance: Instance; endpoint?: undefined }
  | { endpoint: string; instance?: undefined };

/** What happens to an event whose answer was never read. */
export type InDoubtPolicy = 'at-least-once' | 'at-most-once';

/** How events are stored and sent. */
export interface DeliveryOptions {
  /** Events in one batch. Default 50. */
  maxBatch: number;
  /** Longest an event waits for company, in milliseconds. Default 5,000. */
  maxWaitMs: number;
  /** How many answers may name an event as skipped before it is a dead letter. Default 3. */
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
export type DeliveryChoices = Choices<Omit<DeliveryOptions, 'inDoubt'>> & {
  inDoubt?: Choices<DeliveryOptions['inDoubt']> | undefined;
};

const DELIVERY: Rules<Omit<DeliveryOptions, 'inDoubt'>> = {
  maxBatch: [MAX_TRACK_BATCH],
  maxWaitMs: [5_000, 0],
  maxAttempts: [3],
  maxEvents: [10_000],
  maxBytes: [2_000_000],
  maxAgeMs: [7 * DAY_MS],
  // A limit that every tab knows: a request that takes longer is one whose page is gone.
  timeoutMs: [30_000, 1, 5 * 60_000],
};
const IN_DOUBT = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, ['at-least-once', 'at-most-once']]),
) as unknown as Rules<DeliveryOptions['inDoubt']>;

/** The host's choices over the defaults. */
export const deliveryOptions = (chosen: DeliveryChoices | undefined, notify: Notify): DeliveryOptions => {
  const { inDoubt, ...others } = chosen ?? {};
  return {
    ...chosenOptions('delivery.', DELIVERY, others, notify),
    inDoubt: chosenOptions('delivery.inDoubt.', IN_DOUBT, inDoubt, notify),
  };
};
