export { judgeTrack } from './dry-run.ts';
export { EXPORT_KINDS, type ExportKind, exportLines } from './export/lines.ts';
export type { Exchange, Reply } from './gate/exchange.ts';
export { type Listening, type ListenOptions, listen } from './listen.ts';
export { errorFacts, type Log, silentLog } from './log.ts';
export { peerUrlOf } from './replicas/peer-url.ts';
export { createService, type Service, type ServiceOptions } from './service.ts';
export {
  backupStore,
  type Forgotten,
  forgetEvents,
  openStore,
  openStoreReader,
  WHAT_IS_FORGOTTEN,
} from './store/index.ts';
export type { Store, StoreReader } from './store/store.ts';
export { tuneProcess } from './tune-process.ts';
export { version } from './version.ts';
export { loadWorkspaces } from './workspace/load-workspaces.ts';
export { WorkspaceError } from './workspace/problems.ts';
export type { Registry } from './workspace/registry.ts';
export { type WatchOptions, type WorkspaceSource, watchWorkspaces } from './workspace/watch-workspaces.ts';
export type { Workspace } from './workspace/workspace.ts';
