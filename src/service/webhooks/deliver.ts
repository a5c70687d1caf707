import { randomUUID } from 'node:crypto';
import { isSameCursor } from '../data-out/cursor.ts';
import type { FindWorkspace } from '../data-out/data-event.ts';
import { hashId } from '../data-out/event-id.ts';
import type { WebhookEvent } from '../data-out/formats.ts';
import { type EventsRead, readEvents } from '../data-out/read-events.ts';
import type { Log } from '../log.ts';
import type { FeedCursor } from '../sql/feed.ts';
import type { Feed } from '../store/store.ts';
import type { Alert } from './alert.ts';
import { acceptedAlerts, alertEvent, updateAlerts } from './alert-events.ts';
import type { Post } from './post.ts';
import { DISABLE_AFTER_MS, LONGEST_DELAY_MS, type retryDelayMs } from './retry.ts';
import { type ReadSecret, type SendResult, sendMessage } from './send-message.ts';
import type { Webhook } from './webhook.ts';
import {
  TEST_PREFIX,
  type WebhookAttempt,
  type WebhookMessage,
  type WebhookState,
  type WebhookStore,
} from './webhook-store.ts';

/** Maximum number of rows in a message. */
const MAX_ROWS = 100;
/** Maximum number of pages without an event for the webhook until the cursor is stored. */
const MAX_PAGES = 50;
const PRUNE_EVERY = 100;
const GONE = 410;
const TOO_LARGE = 413;

interface DeliverOptions {
  feed: Feed;
  webhooks: WebhookStore;
  findWorkspace: FindWorkspace;
  post: Post;
  readSecret: ReadSecret;
  retryDelay: typeof retryDelayMs;
  log: Log;
  now(): number;
  leaseMs: number;
  signal: AbortSignal;
  onAttempt(state: WebhookState, attempt: WebhookAttempt): void;
}

/** Result of a step. */
export interface DeliverStep {
  state: WebhookState;
  /** Whether the next step may follow immediately. */
  hasMore: boolean;
}

/**
 * Returns functions that deliver the next message of a webhook, and its alerts. The feed is the queue. A message consists of the
 * rows between two cursors, and is read again for each attempt, so that it excludes users who were erased in the meantime. The
 * message is stored before it is sent, and keeps its ID until the receiver accepts it.
 */
export const createDeliver = (options: DeliverOptions) => {
  const {
    feed,
    webhooks,
    findWorkspace,
    post,
    readSecret,
    retryDelay,
    log,
    now,
    leaseMs,
    signal,
    onAttempt,
  } = options;
  /** Maximum number of rows per message, by webhook, if the receiver rejected 100 rows as too large. */
  const maxRows = new Map<string, number>();
  let attempts = 0;

  const toWebhookKey = ({ workspaceId, webhookId }: WebhookState) => JSON.stringify([workspaceId, webhookId]);
  const save = (state: WebhookState) => webhooks.save({ ...state, leaseUntilMs: now() + leaseMs });

  const read = (webhook: Webhook, state: WebhookState, after: FeedCursor, through?: FeedCursor) =>
    readEvents({
      feed,
      findWorkspace,
      after,
      ...(through && { through }),
      limit: through ? MAX_ROWS : (maxRows.get(toWebhookKey(state)) ?? MAX_ROWS),
      workspaceId: state.workspaceId,
      types: webhook.eventTypes,
    });

  /** Sends a message once and records the attempt. Returns `null` and records nothing if the process is stopping. */
  const attempt = async (
    webhook: Webhook,
    state: WebhookState,
    { messageId, after, through }: WebhookMessage & { after: FeedCursor },
    events: readonly WebhookEvent[],
  ): Promise<SendResult | null> => {
    const attemptedAtMs = now();
    const started = performance.now();
    const result = await sendMessage(webhook, messageId, events, {
      post,
      readSecret,
      nowMs: attemptedAtMs,
      signal,
    });
    if (result.error !== null && signal.aborted) return null;
    const record: WebhookAttempt = {
      attemptId: `${new Date(attemptedAtMs).toISOString()} ${randomUUID()}`,
      messageId,
      after,
      through,
      events: events.length,
      attemptedAtMs,
      durationMs: Math.round(performance.now() - started),
      status: result.status,
      error: result.error,
    };
    onAttempt(state, record);
    await webhooks.addAttempt(state, record);
    attempts += 1;
    if (attempts % PRUNE_EVERY === 0) await webhooks.pruneAttempts(state.workspaceId, state.webhookId);
    return result;
  };

  const resend = async (webhook: Webhook, state: WebhookState, messageId: string): Promise<DeliverStep> => {
    const { workspaceId, webhookId, deliveredThrough: cursor } = state;
    const isTest = messageId.startsWith(TEST_PREFIX);
    const range = isTest
      ? { after: cursor, through: cursor }
      : await webhooks.lastAttempt(workspaceId, webhookId, messageId);
    if (range) {
      const { after, through } = range;
      const events = isTest ? [] : (await read(webhook, state, after, through)).events;
      // Events may be empty, because alerts are not in the feed, and all users of a message may have been erased.
      const isSent =
        (events.length === 0 && !isTest) ||
        (await attempt(webhook, state, { messageId, after, through }, events));
      if (isSent === null) return { state, hasMore: false };
    }
    await webhooks.finishResend(state, messageId);
    return { state: { ...state, resendMessageId: null }, hasMore: true };
  };

  /** Finds the next message and stores it. Returns `null` if there is no message, or if another process holds the webhook. */
  const nextMessage = async (webhook: Webhook, state: WebhookState) => {
    let after = state.deliveredThrough;
    let page = await read(webhook, state, after);
    for (let pages = 1; page.events.length === 0 && page.rows > 0 && pages < MAX_PAGES; pages += 1) {
      after = page.next;
      page = await read(webhook, state, after);
    }
    const isEmpty = page.events.length === 0;
    const deliveredThrough = isEmpty ? page.next : after;
    if (isEmpty && isSameCursor(deliveredThrough, state.deliveredThrough)) return null;
    const message = isEmpty ? null : { messageId: `msg_${randomUUID()}`, through: page.next };
    const saved = await save({ ...state, deliveredThrough, message });
    return saved && { state: saved, page };
  };

  /**
   * Stores the result of an attempt. Stores `delivered` if the receiver accepted the message, otherwise the time of the next
   * attempt.
   */
  const settle = async (
    state: WebhookState,
    delivered: Partial<WebhookState>,
    { status, error, retryAfterMs }: SendResult,
    rows: number,
  ): Promise<DeliverStep> => {
    const nowMs = now();
    const fields = { workspace: state.workspaceId, webhook: state.webhookId };
    if (error === null) {
      const saved = await save({
        ...state,
        ...delivered,
        failures: 0,
        failingSinceMs: null,
        nextAttemptMs: 0,
      });
      return { state: saved ?? state, hasMore: saved !== null };
    }
    const failures = state.failures + 1;
    const failingSinceMs = state.failingSinceMs ?? nowMs;
    const failing = { ...state, failures, failingSinceMs };
    if (status === TOO_LARGE && rows > 1) {
      maxRows.set(toWebhookKey(state), Math.ceil(rows / 2));
      const saved = await save({ ...failing, message: null });
      return { state: saved ?? state, hasMore: saved !== null };
    }
    const disabledReason =
      status === GONE ? error : nowMs - failingSinceMs >= DISABLE_AFTER_MS ? `failing: ${error}` : null;
    const nextAttemptMs = Math.round(nowMs + retryDelay(failures, retryAfterMs));
    if (disabledReason === null)
      log.warn(
        { ...fields, error, failures, retry_at: new Date(nextAttemptMs).toISOString() },
        'webhook failed',
      );
    else log.error({ ...fields, reason: disabledReason }, 'webhook disabled');
    const saved = await save({ ...failing, nextAttemptMs, disabledReason });
    return { state: saved ?? state, hasMore: false };
  };

  const isWaiting = ({ nextAttemptMs, disabledReason }: WebhookState): boolean => {
    const waitMs = nextAttemptMs - now();
    // Ignores a longer wait, which a clock that ran ahead has set.
    return disabledReason !== null || (waitMs > 0 && waitMs <= LONGEST_DELAY_MS);
  };

  /** Sends the alerts that fire or were resolved since the last delivery. */
  const deliverAlerts = async (
    webhook: Webhook,
    state: WebhookState,
    alerts: readonly Alert[],
  ): Promise<WebhookState> => {
    const changed = updateAlerts(state.alerts, alerts, now());
    const known = changed === state.alerts ? state : await save({ ...state, alerts: changed });
    const events = changed.filter(({ isSent }) => !isSent).map((each) => alertEvent(state.workspaceId, each));
    if (known === null || events.length === 0 || isWaiting(known)) return known ?? state;
    const { deliveredThrough: after } = known;
    const messageId = `msg_${hashId(...events.map(({ id }) => id))}`;
    const result = await attempt(webhook, known, { messageId, after, through: after }, events);
    if (result === null) return known;
    return (await settle(known, { alerts: acceptedAlerts(changed) }, result, 1)).state;
  };

  const deliver = async (webhook: Webhook, state: WebhookState): Promise<DeliverStep> => {
    if (state.resendMessageId !== null) return resend(webhook, state, state.resendMessageId);
    if (isWaiting(state)) return { state, hasMore: false };

    let current = state;
    let page: EventsRead;
    if (state.message) page = await read(webhook, state, state.deliveredThrough, state.message.through);
    else {
      const next = await nextMessage(webhook, state);
      if (!next) return { state, hasMore: false };
      ({ state: current, page } = next);
    }
    const { message, deliveredThrough } = current;
    if (message === null) return { state: current, hasMore: page.rows > 0 };
    // All users of the message were erased.
    if (page.events.length === 0) {
      const saved = await save({ ...current, deliveredThrough: message.through, message: null });
      return { state: saved ?? current, hasMore: saved !== null };
    }
    const result = await attempt(webhook, current, { ...message, after: deliveredThrough }, page.events);
    if (result === null) return { state: current, hasMore: false };
    return settle(current, { deliveredThrough: message.through, message: null }, result, page.rows);
  };

  return { deliver, deliverAlerts };
};
