import { formatCursor, parseCursor } from '../data-out/cursor.ts';
import type { FeedCursor } from '../sql/feed.ts';
import type { RunSql, SqlRow } from '../sql/row-readers.ts';
import {
  bigint,
  converted,
  defineRow,
  defineTable,
  json,
  orNull,
  type RowOf,
  text,
  withDefault,
} from '../sql/table.ts';
import { createInsert } from '../sql/writes.ts';
import type { WebhookAlert } from './alert.ts';

const parseStoredCursor = (text: string): FeedCursor => {
  const cursor = parseCursor(text);
  if (cursor === null) throw new Error(`expected a cursor, got "${text}"`);
  return cursor;
};

/** Cursor as in `placard stream`. */
const feedCursor = (name: string) => converted(text(name), parseStoredCursor, formatCursor);

const webhook = { workspaceId: text('workspace_id'), webhookId: text('webhook_id') };

/** Progress of each webhook, and the process that delivers it. */
const WEBHOOK_STATE = defineTable(
  'webhook_state',
  {
    ...webhook,
    /** Process that holds the lease; `''` if none. */
    runId: text('run_id'),
    leaseUntilMs: bigint('lease_until_ms'),
    /** Cursor after the last accepted row. */
    deliveredThrough: feedCursor('delivered_through'),
    /** Message in progress; `null` if none. */
    messageId: orNull(text('message_id')),
    /** Cursor after the last row of the message. */
    messageThrough: orNull(feedCursor('message_through')),
    /** Number of consecutive failed attempts. */
    failures: bigint('failures'),
    failingSinceMs: orNull(bigint('failing_since_ms')),
    nextAttemptMs: bigint('next_attempt_ms'),
    /** `null` if the webhook is enabled. */
    disabledReason: orNull(text('disabled_reason')),
    /** Message that an operator has requested again. */
    resendMessageId: orNull(text('resend_message_id')),
    /** Alerts that were sent to the receiver, or are pending. */
    alerts: withDefault(json<readonly WebhookAlert[]>('alerts'), "'[]'"),
  },
  { key: 'workspace_id, webhook_id', hasLargeRows: true },
);

const WEBHOOK_ATTEMPT = defineRow({
  /** Starts with the time. */
  attemptId: text('attempt_id'),
  messageId: text('message_id'),
  after: feedCursor('after_cursor'),
  through: feedCursor('through_cursor'),
  events: bigint('events'),
  attemptedAtMs: bigint('attempted_at_ms'),
  durationMs: bigint('duration_ms'),
  /** Status code of the response; `null` if none. */
  status: orNull(bigint('status')),
  /** `null` if the receiver accepted the message. */
  error: orNull(text('error')),
});

const WEBHOOK_ATTEMPTS = defineTable(
  'webhook_attempts',
  { ...webhook, ...WEBHOOK_ATTEMPT.fields },
  { key: 'workspace_id, webhook_id, attempt_id', hasLargeRows: true },
);

/** Tables of webhooks. They contain no event data, because rows are read again for each attempt. */
export const WEBHOOK_TABLES = [WEBHOOK_STATE, WEBHOOK_ATTEMPTS];

/** ID prefix of a message without events, with which an operator tests a receiver. */
export const TEST_PREFIX = 'test_';

/** Maximum number of attempts to keep for each webhook. */
export const KEPT_ATTEMPTS = 1_000;

export interface WebhookMessage {
  messageId: string;
  /** Cursor after the last row of the message. */
  through: FeedCursor;
}

export type WebhookState = Omit<RowOf<typeof WEBHOOK_STATE>, 'messageId' | 'messageThrough'> & {
  /** Message in progress; `null` if none. */
  message: WebhookMessage | null;
};

/** Attempt to deliver a message. */
export type WebhookAttempt = RowOf<typeof WEBHOOK_ATTEMPT>;

const toWebhookState = (row: SqlRow): WebhookState => {
  const { messageId, messageThrough: through, ...state } = WEBHOOK_STATE.read(row);
  return { ...state, message: messageId !== null && through !== null ? { messageId, through } : null };
};

const addAttempt = createInsert(WEBHOOK_ATTEMPTS);

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
    const { sql, values } = addAttempt({ ...attempt, workspaceId, webhookId });
    await run(sql, values);
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
    return rows.map(WEBHOOK_ATTEMPT.read);
  },

  async lastAttempt(workspaceId, webhookId, messageId) {
    const rows = await run(
      `SELECT * FROM webhook_attempts WHERE ${BY_WEBHOOK} AND message_id = $3 ORDER BY attempt_id DESC LIMIT 1`,
      [workspaceId, webhookId, messageId],
    );
    return rows[0] ? WEBHOOK_ATTEMPT.read(rows[0]) : null;
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
