/**
 * A fake of the service with every fault a network can have, a clock that only tests move, storage that fails on
 * demand, and matchers. Runs in Node and in browsers.
 */
export type { DeliveredEvent } from './event-log.ts';
export { type BannerSource, buildBanner } from './fake-banners.ts';
export {
  createFakeService,
  type FakeService,
  type FakeServiceOptions,
  type RecordedRequest,
} from './fake-service.ts';
export type { AcceptedObject } from './fake-users-track.ts';
export { ConnectionDropped, type Fault, type FaultScope, type RateLimitForm } from './fault.ts';
export { createFaultyStore, type FaultyStore, type StoreFault, type StoreVerb } from './faulty-store.ts';
export {
  assertConserved,
  assertDeliveredExactlyOnce,
  assertDeliveredInOrder,
  DeliveryMismatch,
} from './matchers.ts';
export { createMemoryDisk, type DiskSession, type MemoryDisk } from './memory-disk.ts';
export { createVirtualClock, type VirtualClock } from './virtual-clock.ts';
