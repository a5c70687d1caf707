import { createDraftStore, DRAFTS_TABLE, type DraftStore } from './drafts.ts';
import { createPictureStore, PICTURES_TABLE, type PictureStore } from './pictures.ts';
import type { RunSql } from './row-readers.ts';
import {
  AUDIT_TABLE,
  type AuditStore,
  createAuditStore,
  createSessionStore,
  SESSIONS_TABLE,
  type SessionStore,
} from './sessions.ts';

export { type Draft, newDraftStatement, type ReviewEntry, removeDraftStatement } from './drafts.ts';
export {
  createReadPicture,
  PICTURE_TYPES,
  type Picture,
  type PictureFile,
  type PictureType,
} from './pictures.ts';
export {
  type RunSql,
  type RunTogether,
  readBoolean,
  readEnum,
  readJson,
  readNumber,
  readNumberOrNull,
  readText,
  readTextOrNull,
  type SqlRow,
  type SqlValue,
  type Statement,
} from './row-readers.ts';
export type { OperatorSession, SessionCredential } from './sessions.ts';
export {
  type AuditEntry,
  auditStatement,
  LOOK_AT_USER,
  type NewAuditEntry,
  redactAuditSubject,
} from './sessions.ts';

/**
 * The operators' tables, for both databases. Moments are Unix milliseconds, so that one statement serves both; a campaign is `JSON`,
 * which keeps the order of its fields: differences are shown in it.
 */
export const OPERATOR_TABLES = [DRAFTS_TABLE, PICTURES_TABLE, SESSIONS_TABLE, AUDIT_TABLE].join('');

/** What operators write, never what users do. */
export interface OperatorStore extends DraftStore, PictureStore, SessionStore, AuditStore {}

/** On either database: each method is one statement that both understand. */
export const createOperatorStore = (run: RunSql): OperatorStore => ({
  ...createDraftStore(run),
  ...createPictureStore(run),
  ...createSessionStore(run),
  ...createAuditStore(run),
});
