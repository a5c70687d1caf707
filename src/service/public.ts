import { createService as createAnyService, type Service, type ServiceOptions } from './service.ts';

/** Creates the API for embedding, for example in a test. Throws a `WorkspaceError` if a workspace is invalid. */
export const createService: (options: ServiceOptions) => Service = createAnyService;

export type { Log } from './log.ts';
export type { Service, ServiceOptions } from './service.ts';
export { openStore } from './store/index.ts';
export type { Store } from './store/store.ts';
