import { formatCursor, parseCursor } from '../data-out/cursor.ts';
import type { FeedCursor } from '../results/statements.ts';
import {
  type RunSql,
  readJson,
  readNumber,
  readNumberOrNull,
  readText,
  readTextOrNull,
  type SqlRow,
} from '../row-readers.ts';
import type { WebhookAlert } from './alert.ts';

/** Tables of webhook states and attempts. They contain no event data, because rows are read again for each attempt. */
export const WEBHOOK_TABLES = `
-- Progress of each webhook, and the process that delivers it. Cursors are as in placard stream.
CREATE TABLE webhook_state (
  workspace_id TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  run_id TEXT NOT NULL, -- process that holds the lease; '' if none
  lease_until_ms INTEGER NOT NULL,
  delivered_through TEXT NOT NULL, -- cursor after the last accepted row
  message_id TEXT, -- message in flight; NULL if none
  message_through TEXT, -- cursor after the last row of the message
  failures INTEGER NOT NULL, -- consecutive failed attempts
  failing_since_ms INTEGER,
  next_attempt_ms INTEGER NOT NULL,
  disabled_reason TEXT, -- NULL if enabled
  resend_message_id TEXT, -- message that an operator has requested again
  alerts JSON NOT NULL DEFAULT '[]', -- sent or queued alerts
  PRIMARY KEY (workspace_id, webhook_id)
);

CREATE TABLE webhook_attempts (
  workspace_id TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  attempt_id TEXT NOT NULL, -- starts with the time
  message_id TEXT NOT NULL,
  after_cursor TEXT NOT NULL,
  through_cursor TEXT NOT NULL,
  events INTEGER NOT NULL,
  attempted_at_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER, -- status code of the response; NULL if none
  error TEXT, -- NULL if the receiver accepted the message
  PRIMARY KEY (workspace_id, webhook_id, attempt_id)
);
`;

/** ID prefix of a message without events, with which an operator tests a receiver. */
export const TEST_PREFIX = 'test_';

/** Maximum number of attempts to keep for each webhook. */
export const KEPT_ATTEMPTS = 1_000;

export interface WebhookMessage {
  messageId: string;
  /** Cursor after the last row of the message. */
  through: FeedCursor;
}

export interface WebhookState {
  workspaceId: string;
  webhookId: string;
  runId: string;
  leaseUntilMs: number;
  deliveredThrough: FeedCursor;
  /** Message in progress; `null` if none. */
  message: WebhookMessage | null;
  failures: number;
  failingSinceMs: number | null;
  nextAttemptMs: number;
  disabledReason: string | null;
  resendMessageId: string | null;
  /** Alerts that were sent to the receiver, or are pending. */
  alerts: readonly WebhookAlert[];
}

/** Attempt to deliver a message. */
export interface WebhookAttempt {
  attemptId: string;
  messageId: string;
  after: FeedCursor;
  through: FeedCursor;
  events: number;
  attemptedAtMs: number;
  durationMs: number;
  status: number | null;
  error: string | null;
}

const readCursor = (text: string): FeedCursor => {
  const cursor = parseCursor(text);
  if (cursor === null) throw new Error(`expected a cursor, got "${text}"`);
  return cursor;
};

const toWebhookState = (row: SqlRow): WebhookState => {
  const messageId = readTextOrNull(row, 'message_id');
  return {
    workspaceId: readText(row, 'workspace_id'),
    webhookId: readText(row, 'webhook_id'),
    runId: readText(row, 'run_id'),
    leaseUntilMs: readNumber(row, 'lease_until_ms'),
    deliveredThrough: readCursor(readText(row, 'delivered_through')),
    message: messageId === null ? null : { messageId, through: readCursor(readText(row, 'message_through')) },
    failures: readNumber(row, 'failures'),
    failingSinceMs: readNumberOrNull(row, 'failing_since_ms'),
    nextAttemptMs: readNumber(row, 'next_attempt_ms'),
    disabledReason: readTextOrNull(row, 'disabled_reason'),
    resendMessageId: readTextOrNull(row, 'resend_message_id'),
    alerts: readJson(row, 'alerts'),
  };
};

const toWebhookAttempt = (row: SqlRow): WebhookAttempt => ({
  attemptId: readText(row, 'attempt_id'),
  messageId: readText(row, 'message_id'),
  after: readCursor(readText(row, 'after_cursor')),
  through: readCursor(readText(row, 'through_cursor')),
  events: readNumber(row, 'events'),
  attemptedAtMs: readNumber(row, 'attempted_at_ms'),
  durationMs: readNumber(row, 'duration_ms'),
  status: readNumberOrNull(row, 'status'),
  error: readTextOrNull(row, 'error'),
});

const BY_WEBHOOK = 'workspace_id = $1 AND webhook_id = $2';

interface LeaseOptions {
  workspaceId: string;
  webhookId: string;
  runId: string;
  nowMs: number;
  leaseMs: number;
  /** Initial cursor of a new webhook. */
  start: FeedCursor;
}

/**
 * Store of the state and attempts of webhooks. Each method runs one statement that both databases accept, or several idempotent
 * statements.
 */
export interface WebhookStore {
  states(workspaceId: string): Promise<WebhookState[]>;
  /** Returns the state of a webhook; `null` if unknown. */
  state(workspaceId: string, webhookId: string): Promise<WebhookState | null>;
  /** Acquires the lease of a webhook. Returns `null` if another process holds the webhook. */
  acquireLease(options: LeaseOptions): Promise<WebhookState | null>;
  /** Extends the lease. Returns `false` if another process holds the webhook. */
  renew(state: WebhookState, untilMs: number): Promise<boolean>;
  release(state: WebhookState): Promise<void>;
  /**
   * Stores the progress of a webhook. Returns the stored state. Returns `null` and stores nothing if another process holds the
   * webhook.
   */
  save(state: WebhookState): Promise<WebhookState | null>;
  addAttempt(state: WebhookState, attempt: WebhookAttempt): Promise<void>;
  /** Deletes attempts except the last 1,000. */
  pruneAttempts(workspaceId: string, webhookId: string): Promise<void>;
  /** Returns attempts, newest first. */
  attempts(workspaceId: string, webhookId: string, limit: number): Promise<WebhookAttempt[]>;
  /** Returns the last attempt of a message; `null` if none is stored. */
  lastAttempt(workspaceId: string, webhookId: string, messageId: string): Promise<WebhookAttempt | null>;
  /**
   * Requests a resend of a message, or a test with a new ID that begins with `TEST_PREFIX`. Returns `false` if the webhook is
   * unknown or another resend is pending.
   */
  requestResend(workspaceId: string, webhookId: string, messageId: string): Promise<boolean>;
  finishResend(state: WebhookState, messageId: string): Promise<void>;
  /** Enables a webhook and delivers the rows after a cursor again. Returns `false` if the webhook is unknown. */
  replay(workspaceId: string, webhookId: string, from: FeedCursor): Promise<boolean>;
  /** Enables a webhook and retries immediately. Returns `false` if the webhook is unknown. */
  resume(workspaceId: string, webhookId: string): Promise<boolean>;
}

export const createWebhookStore = (run: RunSql): WebhookStore => ({
  async states(workspaceId) {
    const rows = await run('SELECT * FROM webhook_state WHERE workspace_id = $1 ORDER BY webhook_id', [
      workspaceId,
    ]);
    return rows.map(toWebhookState);
  },

  async state(workspaceId, webhookId) {
    const rows = await run(`SELECT * FROM webhook_state WHERE ${BY_WEBHOOK}`, [workspaceId, webhookId]);
    return rows[0] ? toWebhookState(rows[0]) : null;
  },

  async acquireLease({ workspaceId, webhookId, runId, nowMs, leaseMs, start }) {
    const rows = await run(
      `INSERT INTO webhook_state (workspace_id, webhook_id, run_id, lease_until_ms, delivered_through, failures, next_attempt_ms)
       VALUES ($1, $2, $3, $4, $5, 0, 0)
       ON CONFLICT (workspace_id, webhook_id) DO UPDATE
       SET run_id = excluded.run_id, lease_until_ms = excluded.lease_until_ms
       WHERE webhook_state.lease_until_ms < $6 OR webhook_state.lease_until_ms > $7
       RETURNING *`,
      // Ignores a lease that is longer than the maximum, which a clock that ran ahead has set.
      [workspaceId, webhookId, runId, nowMs + leaseMs, formatCursor(start), nowMs, nowMs + 2 * leaseMs],
    );
    return rows[0] ? toWebhookState(rows[0]) : null;
  },

  async renew({ workspaceId, webhookId, runId }, untilMs) {
    const rows = await run(
      `UPDATE webhook_state SET lease_until_ms = $4 WHERE ${BY_WEBHOOK} AND run_id = $3 RETURNING run_id`,
      [workspaceId, webhookId, runId, untilMs],
    );
    return rows.length > 0;
  },

  async release({ workspaceId, webhookId, runId }) {
    await run(
      `UPDATE webhook_state SET run_id = '', lease_until_ms = 0 WHERE ${BY_WEBHOOK} AND run_id = $3`,
      [workspaceId, webhookId, runId],
    );
  },

  async save(state) {
    const { workspaceId, webhookId, runId, deliveredThrough, message } = state;
    const rows = await run(
      `UPDATE webhook_state SET delivered_through = $4, message_id = $5, message_through = $6, failures = $7,
         failing_since_ms = $8, next_attempt_ms = $9, disabled_reason = $10, lease_until_ms = $11, alerts = $12
       WHERE ${BY_WEBHOOK} AND run_id = $3 RETURNING *`,
      [
        workspaceId,
        webhookId,
        runId,
        formatCursor(deliveredThrough),
        message?.messageId ?? null,
        message ? formatCursor(message.through) : null,
        state.failures,
        state.failingSinceMs,
        state.nextAttemptMs,
        state.disabledReason,
        state.leaseUntilMs,
        JSON.stringify(state.alerts),
      ],
    );
    return rows[0] ? toWebhookState(rows[0]) : null;
  },

  async addAttempt({ workspaceId, webhookId }, attempt) {
    await run(
      `INSERT INTO webhook_attempts (workspace_id, webhook_id, attempt_id, message_id, after_cursor, through_cursor, events,
         attempted_at_ms, duration_ms, status, error) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        workspaceId,
        webhookId,
        attempt.attemptId,
        attempt.messageId,
        formatCursor(attempt.after),
        formatCursor(attempt.through),
        attempt.events,
        attempt.attemptedAtMs,
        attempt.durationMs,
        attempt.status,
        attempt.error,
      ],
    );
  },

  async pruneAttempts(workspaceId, webhookId) {
    await run(
      `DELETE FROM webhook_attempts WHERE ${BY_WEBHOOK} AND attempt_id <=
         (SELECT attempt_id FROM webhook_attempts WHERE ${BY_WEBHOOK} ORDER BY attempt_id DESC LIMIT 1 OFFSET $3)`,
      [workspaceId, webhookId, KEPT_ATTEMPTS],
    );
  },

  async attempts(workspaceId, webhookId, limit) {
    const rows = await run(
      `SELECT * FROM webhook_attempts WHERE ${BY_WEBHOOK} ORDER BY attempt_id DESC LIMIT $3`,
      [workspaceId, webhookId, limit],
    );
    return rows.map(toWebhookAttempt);
  },

  async lastAttempt(workspaceId, webhookId, messageId) {
    const rows = await run(
      `SELECT * FROM webhook_attempts WHERE ${BY_WEBHOOK} AND message_id = $3 ORDER BY attempt_id DESC LIMIT 1`,
      [workspaceId, webhookId, messageId],
    );
    return rows[0] ? toWebhookAttempt(rows[0]) : null;
  },

  async requestResend(workspaceId, webhookId, messageId) {
    const rows = await run(
      `UPDATE webhook_state SET resend_message_id = $3 WHERE ${BY_WEBHOOK} AND resend_message_id IS NULL RETURNING run_id`,
      [workspaceId, webhookId, messageId],
    );
    return rows.length > 0;
  },

  async finishResend({ workspaceId, webhookId }, messageId) {
    await run(
      `UPDATE webhook_state SET resend_message_id = NULL WHERE ${BY_WEBHOOK} AND resend_message_id = $3`,
      [workspaceId, webhookId, messageId],
    );
  },

  async replay(workspaceId, webhookId, from) {
    // Releases the lease of its process, which then discards the rows that it has read.
    const rows = await run(
      `UPDATE webhook_state SET run_id = '', lease_until_ms = 0, delivered_through = $3, message_id = NULL, message_through = NULL,
         failures = 0, failing_since_ms = NULL, next_attempt_ms = 0, disabled_reason = NULL WHERE ${BY_WEBHOOK} RETURNING webhook_id`,
      [workspaceId, webhookId, formatCursor(from)],
    );
    return rows.length > 0;
  },

  async resume(workspaceId, webhookId) {
    const rows = await run(
      `UPDATE webhook_state SET run_id = '', lease_until_ms = 0, failures = 0, failing_since_ms = NULL, next_attempt_ms = 0,
         disabled_reason = NULL WHERE ${BY_WEBHOOK} RETURNING webhook_id`,
      [workspaceId, webhookId],
    );
    return rows.length > 0;
  },
});
