// Trouble chunk: code that most visits do not run. See `deferred-client.ts` for when it is loaded.
export { createSyncTrouble } from './banners/sync-trouble.ts';
export { createTrouble } from './delivery/trouble/trouble.ts';
export { createWorkerHandoff } from './delivery/worker-handoff.ts';
export { createShouldShow } from './placements/should-show.ts';
