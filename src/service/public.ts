/** What `placard/service` promises to a program that runs the service itself. The repository's other rooms enter by `index.ts`. */
export { type Log, silentLog } from './log.ts';
export { createService, type Service, type ServiceOptions } from './service.ts';
export { openStore } from './store/index.ts';
export type { Store } from './store/store.ts';
