import { type AuditStore, createAuditStore } from './audit.ts';
import { createDraftStore, type DraftStore } from './drafts.ts';
import { createReleaseStore, type ReleaseStore } from './releases.ts';
import type { RunSql } from './run-sql.ts';
import { createSessionStore, type SessionStore } from './sessions.ts';

/** The Studio's tables. Small: what operators write, never what users do. */
export interface StudioStore extends ReleaseStore, DraftStore, SessionStore, AuditStore {}

/** On either database: each verb is one statement that both understand. */
export const createStudioStore = (run: RunSql): StudioStore => ({
  ...createReleaseStore(run),
  ...createDraftStore(run),
  ...createSessionStore(run),
  ...createAuditStore(run),
});
