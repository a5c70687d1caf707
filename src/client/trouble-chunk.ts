// Trouble chunk: code that most visits do not run. See `deferred-client.ts` for when it is loaded.
export { createExpiryRefetch } from './banners/expiry-refetch.ts';
export { createSyncFailures } from './banners/sync-failure.ts';
export { createTrouble } from './delivery/trouble/trouble.ts';
export { createWorkerHandoff } from './delivery/worker-handoff.ts';
export { createShouldShow } from './placements/should-show.ts';
