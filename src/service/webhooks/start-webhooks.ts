import { randomUUID } from 'node:crypto';
import { type Log, serializeError } from '../log.ts';
import { repeatUntilAborted } from '../repeat-until-aborted.ts';
import { FEED_START } from '../sql/feed.ts';
import type { Store } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Resolve } from './address.ts';
import type { Alert } from './alert.ts';
import { createDeliver } from './deliver.ts';
import { createPost } from './post.ts';
import { retryDelayMs } from './retry.ts';
import type { ReadSecret } from './send-message.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookAttempt, WebhookState } from './webhook-store.ts';

const POLL_MS = 1_000;
/** Interval between evaluations of the alerts, in milliseconds. */
const ALERTS_MS = 60_000;
/** Duration of a lease, longer than an attempt. If a process dies, another process continues when the lease expires. */
const LEASE_MS = 30_000;
/** Maximum wait for attempts in flight on stop, in milliseconds. */
const DRAIN_MS = 5_000;

export interface WebhooksOptions {
  store: Pick<Store, 'webhooks' | 'readFeed' | 'readConversions' | 'feedEnd'>;
  /** Returns the current workspaces. Changes of the workspace file apply from the next message. */
  workspaces(): readonly Workspace[];
  /** Returns the current alerts, for webhooks with `placard.alert`. Default: none. */
  readAlerts?: (workspace: Workspace) => Promise<readonly Alert[]>;
  /** Returns the value of an environment variable that the workspace file names. */
  readSecret: ReadSecret;
  /** Hostnames and addresses of private hosts that webhooks may reach. Default: none. */
  privateHosts?: ReadonlySet<string>;
  log: Log;
  /** Receives the result of each attempt. */
  onAttempt: (state: WebhookState, attempt: WebhookAttempt) => void;
  /** Returns Unix milliseconds. Default: the system clock. */
  now?: () => number;
  pollMs?: number;
  alertsMs?: number;
  leaseMs?: number;
  timeoutMs?: number;
  resolve?: Resolve;
  /** Returns the delay before a retry. Default: the delays of `retry.ts`. */
  retryDelay?: typeof retryDelayMs;
}

/**
 * Delivers the events of workspaces to their webhooks. Any number of replicas may run this, because only one replica holds a
 * webhook at a time. Returns a function that stops the delivery.
 */
export const startWebhooks = (options: WebhooksOptions): (() => Promise<void>) => {
  const { store, workspaces, readSecret, log, onAttempt, privateHosts = new Set(), now = Date.now } = options;
  const { readAlerts, alertsMs = ALERTS_MS } = options;
  const { pollMs = POLL_MS, leaseMs = LEASE_MS, timeoutMs, resolve, retryDelay = retryDelayMs } = options;

  const runId = randomUUID();
  const stopping = new AbortController();
  const { signal } = stopping;
  const draining = new AbortController();
  const running = new Map<string, Promise<void>>();
  const { post, close } = createPost({ privateHosts, resolve, timeoutMs });
  /** Time of the last evaluation of a webhook's alerts. */
  const alertsReadMs = new Map<string, number>();
  const { deliver, deliverAlerts } = createDeliver({
    feed: store,
    webhooks: store.webhooks,
    findWorkspace: (id) => workspaces().find(({ workspaceId }) => workspaceId === id),
    post,
    readSecret,
    retryDelay,
    log,
    now,
    leaseMs,
    signal: draining.signal,
    onAttempt,
  });

  const toWebhookKey = ({ workspaceId }: Workspace, { webhookId }: Webhook) =>
    JSON.stringify([workspaceId, webhookId]);
  const logError = ({ workspaceId }: Workspace, { webhookId }: Webhook, error: unknown, message: string) =>
    log.error({ workspace: workspaceId, webhook: webhookId, ...serializeError(error) }, message);

  /** Returns the state of a webhook that this process holds; `null` if another process holds it. */
  const acquireLease = async (workspaceId: string, webhook: Webhook): Promise<WebhookState | null> => {
    const { webhookId } = webhook;
    const state = await store.webhooks.state(workspaceId, webhookId);
    const nowMs = now();
    if (state?.runId === runId) {
      if (state.leaseUntilMs - nowMs > leaseMs / 2) return state;
      return (await store.webhooks.renew(state, nowMs + leaseMs)) ? state : null;
    }
    const isHeld = state && state.leaseUntilMs >= nowMs && state.leaseUntilMs <= nowMs + 2 * leaseMs;
    if (isHeld) return null;
    const start = state || webhook.from === 'start' ? FEED_START : await store.feedEnd();
    return store.webhooks.acquireLease({ workspaceId, webhookId, runId, nowMs, leaseMs, start });
  };

  const deliverDueAlerts = async (workspace: Workspace, webhook: Webhook, state: WebhookState) => {
    const key = toWebhookKey(workspace, webhook);
    const isDue = now() - (alertsReadMs.get(key) ?? Number.NEGATIVE_INFINITY) >= alertsMs;
    if (!readAlerts || !isDue || !webhook.eventTypes?.has('placard.alert')) return state;
    alertsReadMs.set(key, now());
    return deliverAlerts(webhook, state, await readAlerts(workspace));
  };

  const run = async (workspace: Workspace, webhook: Webhook) => {
    const leased = await acquireLease(workspace.workspaceId, webhook);
    if (!leased) return;
    const state = await deliverDueAlerts(workspace, webhook, leased).catch((error: unknown) => {
      logError(workspace, webhook, error, 'reading alerts failed');
      return leased;
    });
    for (let step = { state, hasMore: true }; step.hasMore && !signal.aborted; )
      step = await deliver(webhook, step.state);
  };

  const startDeliveries = (workspace: Workspace) => {
    for (const webhook of workspace.webhooks) {
      const key = toWebhookKey(workspace, webhook);
      if (webhook.isPaused || running.has(key)) continue;
      const done = run(workspace, webhook)
        .catch((error: unknown) => logError(workspace, webhook, error, 'webhook delivery failed'))
        .finally(() => running.delete(key));
      running.set(key, done);
    }
  };

  const release = async ({ workspaceId, webhooks }: Workspace) => {
    if (webhooks.length === 0) return;
    const states = await store.webhooks.states(workspaceId);
    for (const state of states) if (state.runId === runId) await store.webhooks.release(state);
  };

  const polling = repeatUntilAborted(() => workspaces().forEach(startDeliveries), {
    everyMs: pollMs,
    signal,
    onError: (error) => log.error(serializeError(error), 'polling webhooks failed'),
  });

  return async () => {
    stopping.abort();
    const timer = setTimeout(() => draining.abort(), DRAIN_MS);
    await polling;
    await Promise.all(running.values());
    clearTimeout(timer);
    close();
    for (const workspace of workspaces())
      await release(workspace).catch((error: unknown) =>
        log.error(serializeError(error), 'webhooks not released'),
      );
  };
};
