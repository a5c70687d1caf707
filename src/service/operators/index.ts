export type { Draft } from './drafts.ts';
export type { Release } from './releases.ts';
export {
  jsonIn,
  numberIn,
  type RunSql,
  type SqlRow,
  type SqlValue,
  type Statement,
  textIn,
} from './run-sql.ts';
export type { OperatorSession, SessionProof } from './sessions.ts';
export { type AuditEntry, forgetSubject, LOOK_AT_USER } from './sessions.ts';
export { createStudioStore, STUDIO_TABLES, type StudioStore } from './studio-store.ts';
