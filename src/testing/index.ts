/** Fake service with fault injection, virtual clock, storage with fault injection, and matchers. Runs in Node.js and browsers. */
export type { DeliveredEvent } from './event-log.ts';
export { type BannerSource, buildBanner } from './fake-banners.ts';
export type { RecordedRequest } from './fake-endpoints.ts';
export {
  createFakeService,
  type FakeService,
  type FakeServiceOptions,
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
