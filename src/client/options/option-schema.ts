import {
  DAY_MS,
  EVENT_TYPES,
  type EventType,
  type Instance,
  MAX_TRACK_BATCH,
  mapKeys,
} from '../../protocol/index.ts';

/** Default of an option, followed by its inclusive bounds (number) or its other values (string). */
export type Rule =
  | readonly [value: number, min?: number, max?: number]
  | readonly [value: string, ...string[]];
type Rules<T> = { readonly [Name in keyof T]: Rule };

/** Partial type whose members may be `undefined`, which selects the default. */
export type Choices<T> = { [Name in keyof T]?: T[Name] | undefined };

/** Reports an invalid option. `rule` is `undefined` if the option is unknown. */
export type OnInvalidOption = (option: string, rule: Rule | undefined) => void;

const isValid = (value: unknown, rule: Rule): boolean => {
  const [usual, min = 1, max = Infinity] = rule as readonly number[];
  // A number without a maximum may be `Infinity`. `NaN` is outside all bounds.
  return typeof usual === 'number'
    ? typeof value === 'number' && value >= min && value <= max
    : rule.includes(value as never);
};

/** Merges the host's choices with the defaults. Unknown and invalid options are reported, and keep the default. */
export const resolveOptions = <T extends object>(
  group: string,
  rules: Rules<T>,
  chosen: object | undefined,
  onInvalid: OnInvalidOption,
): T => {
  const all = new Map(Object.entries<Rule>(rules));
  const options: Record<string, unknown> = Object.fromEntries(
    [...all].map(([name, [value]]) => [name, value]),
  );
  for (const [name, value] of Object.entries(chosen ?? {})) {
    const rule = all.get(name);
    if (value === undefined) continue;
    if (rule && isValid(value, rule)) options[name] = value;
    else onInvalid(group + name, rule);
  }
  return options as T;
};

/** Initial consent, once `'gpc'` is resolved. */
export const CONSENT = ['enabled', 'disabled', 'pending'] as const;

/** Options for banner refreshes, sessions and impressions. */
export interface BannerOptions {
  /** Number of `refresh()` calls that a session starts with, and maximum that it accumulates. Default 5; 0 disables refreshes. */
  refreshCapacity: number;
  /** Interval after which one more refresh is granted, in milliseconds, at most 365 days. Default 180,000 (3 minutes). */
  refreshIntervalMs: number;
  /** Time without a visible page after which a session ends, in milliseconds. Default 1,800,000 (30 minutes). */
  sessionTimeoutMs: number;
  /** Whether an impression of a banner counts once per session (all tabs) or once per tab. Default `'session'`. */
  impressionScope: 'session' | 'tab';
}

const BANNERS: Rules<BannerOptions> = {
  refreshCapacity: [5, 0],
  refreshIntervalMs: [180_000, 1, 365 * DAY_MS],
  sessionTimeoutMs: [30 * 60_000],
  impressionScope: ['session', 'tab'],
};

/** Merges the host's choices with the defaults. */
export const bannerOptions = (
  chosen: Choices<BannerOptions> | undefined,
  onInvalid: OnInvalidOption,
): BannerOptions => resolveOptions('banners.', BANNERS, chosen, onInvalid);

// Declared in this file, because types of the service worker must not depend on `options.ts`, which needs the DOM library.
/** Service to connect to: `instance` is the name of a hosted instance, `endpoint` the base URL of any other. */
export type EndpointOptions =
  | { instance: Instance; endpoint?: undefined }
  | { endpoint: string; instance?: undefined };

/**
 * Policy for an event in doubt, of which no response says whether it is stored: `at-least-once` sends it again, which may create a
 * duplicate on servers without deduplication; `at-most-once` drops it.
 */
export type DeliveryGuarantee = 'at-least-once' | 'at-most-once';

/** Options for event storage and delivery. */
export interface DeliveryOptions {
  /** Maximum number of events in a batch. Default 50. */
  maxBatchSize: number;
  /** Maximum time that an event waits to be sent with others, in milliseconds. Default 5,000. */
  maxDelayMs: number;
  /** Number of responses that may reject an event before it becomes a dead letter. Default 3. */
  maxAttempts: number;
  /**
   * Maximum number of stored events, including dead letters. Above it, the least valuable and oldest events are evicted. Default
   * 10,000.
   */
  maxEvents: number;
  /** Maximum estimated size of stored events, in bytes. Default 2,000,000 (2 MB). */
  maxBytes: number;
  /** Age after which stored events expire, in milliseconds. Default 604,800,000 (7 days). */
  maxAgeMs: number;
  /** Policy for each event type. Default `'at-least-once'` for all. */
  guarantee: Record<EventType, DeliveryGuarantee>;
  /** Timeout of a request, in milliseconds, at most 300,000 (5 minutes). Default 30,000. */
  timeoutMs: number;
}

/** Delivery options of the host. Omitted ones keep their default. */
export type DeliveryChoices = Choices<Omit<DeliveryOptions, 'guarantee'>> & {
  guarantee?: Choices<DeliveryOptions['guarantee']> | undefined;
};

const DELIVERY: Rules<Omit<DeliveryOptions, 'guarantee'>> = {
  maxBatchSize: [MAX_TRACK_BATCH],
  maxDelayMs: [5_000, 0],
  maxAttempts: [3],
  maxEvents: [10_000],
  maxBytes: [2_000_000],
  maxAgeMs: [7 * DAY_MS],
  // Every tab relies on this maximum. If a request takes longer, its page is gone.
  timeoutMs: [30_000, 1, 5 * 60_000],
};
const GUARANTEE: Rules<DeliveryOptions['guarantee']> = mapKeys(EVENT_TYPES, () => [
  'at-least-once',
  'at-most-once',
]);

/** Merges the host's choices with the defaults. */
export const deliveryOptions = (
  chosen: DeliveryChoices | undefined,
  onInvalid: OnInvalidOption,
): DeliveryOptions => {
  const { guarantee, ...others } = chosen ?? {};
  return {
    ...resolveOptions('delivery.', DELIVERY, others, onInvalid),
    guarantee: resolveOptions('delivery.guarantee.', GUARANTEE, guarantee, onInvalid),
  };
};
