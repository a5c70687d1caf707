import type { RunSql } from '../sql/row-readers.ts';
import { createDraftStore, DRAFTS, type DraftStore } from './drafts.ts';
import { createImageStore, IMAGES, type ImageStore } from './images.ts';
import {
  createInvitedOperatorStore,
  INVITED_OPERATORS,
  type InvitedOperatorStore,
} from './invited-operators.ts';
import {
  type AuditStore,
  createAuditStore,
  createSessionStore,
  OPERATOR_AUDIT,
  OPERATOR_SESSIONS,
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
export type { InvitedOperator } from './invited-operators.ts';
export type { OperatorSession, SessionCredential } from './sessions.ts';
export {
  type AuditEntry,
  auditStatement,
  type NewAuditEntry,
  OPERATOR_AUDIT,
  redactAuditSubject,
  VIEW_USER,
} from './sessions.ts';

/**
 * Tables of operators. Times are Unix milliseconds, so that the same statements work on both databases. JSON keeps the order of
 * the fields of a campaign for diffs.
 */
export const OPERATOR_TABLES = [DRAFTS, IMAGES, OPERATOR_SESSIONS, OPERATOR_AUDIT, INVITED_OPERATORS];

/** Data that operators write. Excludes data of users. */
export interface OperatorStore
  extends DraftStore,
    ImageStore,
    SessionStore,
    AuditStore,
    InvitedOperatorStore {}

/** Creates the store for either database. Each method is one statement that both databases accept. */
export const createOperatorStore = (run: RunSql): OperatorStore => ({
  ...createDraftStore(run),
  ...createImageStore(run),
  ...createSessionStore(run),
  ...createAuditStore(run),
  ...createInvitedOperatorStore(run),
});
