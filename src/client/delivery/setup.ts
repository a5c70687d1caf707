import type { Notify } from '../notice.ts';
import type { Correct } from '../options.ts';
import type { Clock } from '../platform/clock.ts';
import type { PageLifecycle } from '../platform/page-lifecycle.ts';
import type { Store } from '../platform/store.ts';
import type { TabLink } from '../platform/tab-channel.ts';
import type { FetchLater } from './deferral.ts';
import type { DeliveryOptions } from './delivery-options.ts';

/**
 * What `createDelivery` needs; what is optional has a browser default. Store and clock come from whoever loads first: the
 * delivery must not bring them along a second time.
 */
export interface DeliverySetup {
  /** Base URL of the API, without the path. */
  endpoint: string;
  /** The client key; a function is asked before a request, and again after a refusal. */
  apiKey: string | (() => string | Promise<string>);
  appId: string;
  appVersion: string;
  /** `'disabled'`: nothing is stored or sent before `enable()`. Default `'enabled'`; an earlier opt-out stays one. */
  consent?: 'enabled' | 'disabled';
  /** `'in-a-page'`: skipped events wait for the hook of a page (the sender in a service worker). */
  correct?: Correct | 'in-a-page' | undefined;
  options?: Partial<DeliveryOptions> | undefined;
  notify?: Notify;
  /** Sends only when `flush()` is called. */
  onlyOnDemand?: boolean;
  lifecycle?: PageLifecycle;
  fetch?: typeof fetch;
  /** For what a page that goes cannot send by itself; left out where the engine has none, or all must go by `fetch`. */
  fetchLater?: FetchLater | undefined;
  /** IndexedDB, as a rule; memory where it fails is added by the delivery itself. */
  openStore: (name: string) => Store;
  /** Opens the channel to the other tabs. Default `BroadcastChannel`; without one the store alone carries the news. */
  openChannel?: (name: string) => TabLink;
  clock: Clock;
  /** 0 ≤ x < 1. */
  random?: () => number;
  /** Frees space of less value than events (the banner cache), when the storage quota is reached. */
  makeRoom?: () => Promise<void>;
}
