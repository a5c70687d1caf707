import type { RunSql } from '../row-readers.ts';
import { createDraftStore, DRAFTS_TABLE, type DraftStore } from './drafts.ts';
import { createImageStore, IMAGES_TABLE, type ImageStore } from './images.ts';
import {
  AUDIT_TABLE,
  type AuditStore,
  createAuditStore,
  createSessionStore,
  SESSIONS_TABLE,
  type SessionStore,
} from './sessions.ts';

export {
  createRevision,
  type Draft,
  newDraftStatement,
  type ReviewEntry,
  removeDraftStatement,
  type StoredDraft,
} from './drafts.ts';
export {
  createReadImage,
  IMAGE_TYPES,
  type Image,
  type ImageFile,
  type ImageType,
} from './images.ts';
export type { OperatorSession, SessionCredential } from './sessions.ts';
export {
  type AuditEntry,
  auditStatement,
  type NewAuditEntry,
  redactAuditSubject,
  VIEW_USER,
} from './sessions.ts';

/**
 * Tables of operators, for both databases. Times are Unix milliseconds, so that the same statements work on both. A campaign has
 * the type `JSON`, which keeps the order of its fields for diffs.
 */
export const OPERATOR_TABLES = [DRAFTS_TABLE, IMAGES_TABLE, SESSIONS_TABLE, AUDIT_TABLE].join('');

/** Data that operators write. Excludes data of users. */
export interface OperatorStore extends DraftStore, ImageStore, SessionStore, AuditStore {}

/** Creates the store for either database. Each method is one statement that both databases accept. */
export const createOperatorStore = (run: RunSql): OperatorStore => ({
  ...createDraftStore(run),
  ...createImageStore(run),
  ...createSessionStore(run),
  ...createAuditStore(run),
});
