import { createDraftStore, DRAFTS_TABLE, type DraftStore } from './drafts.ts';
import { createPictureStore, PICTURES_TABLE, type PictureStore } from './pictures.ts';
import { createReleaseStore, RELEASES_TABLE, type ReleaseStore } from './releases.ts';
import type { RunSql } from './run-sql.ts';
import {
  AUDIT_TABLE,
  type AuditStore,
  createAuditStore,
  createSessionStore,
  SESSIONS_TABLE,
  type SessionStore,
} from './sessions.ts';

export type { Draft } from './drafts.ts';
export {
  createReadPicture,
  PICTURE_TYPES,
  type Picture,
  type PictureFile,
  type PictureType,
} from './pictures.ts';
export type { Release } from './releases.ts';
export {
  booleanIn,
  jsonIn,
  numberIn,
  oneIn,
  type RunSql,
  type SqlRow,
  type SqlValue,
  type Statement,
  textIn,
  textOrNullIn,
  textsIn,
} from './run-sql.ts';
export type { OperatorSession, SessionProof } from './sessions.ts';
export { type AuditEntry, forgetSubject, LOOK_AT_USER } from './sessions.ts';

/**
 * The Studio's tables, for both databases. Moments are Unix milliseconds, so that one statement serves both; a campaign is `JSON`, which
 * keeps the order of its members: its differences are shown in it.
 */
export const STUDIO_TABLES = [RELEASES_TABLE, DRAFTS_TABLE, PICTURES_TABLE, SESSIONS_TABLE, AUDIT_TABLE].join(
  '',
);

/** The Studio's tables. Small: what operators write, never what users do. */
export interface StudioStore extends ReleaseStore, DraftStore, PictureStore, SessionStore, AuditStore {}

/** On either database: each verb is one statement that both understand. */
export const createStudioStore = (run: RunSql): StudioStore => ({
  ...createReleaseStore(run),
  ...createDraftStore(run),
  ...createPictureStore(run),
  ...createSessionStore(run),
  ...createAuditStore(run),
});
