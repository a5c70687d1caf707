import { createService as createAnyService, type Service, type ServiceOptions } from './service.ts';

/**
 * Puts the API together, for a program that runs it itself: a test, for one. Throws a `WorkspaceError` where a given workspace cannot
 * be used.
 */
export const createService: (options: ServiceOptions) => Service = createAnyService;

export type { Log } from './log.ts';
export type { Service, ServiceOptions } from './service.ts';
export { openStore } from './store/index.ts';
export type { Store } from './store/store.ts';
