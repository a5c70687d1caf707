import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { START } from '../data-out/cursor.ts';
import { type Log, serializeError } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Resolve } from './address.ts';
import { createDeliver } from './deliver.ts';
import { createPost } from './post.ts';
import type { WebhookAttempt, WebhookState } from './records.ts';
import { retryDelayMs } from './retry.ts';
import type { ReadSecret } from './send-message.ts';
import type { Webhook } from './webhook.ts';

const POLL_MS = 1_000;
/** Longer than an attempt. After a process dies, another one continues when the lease expires. */
const LEASE_MS = 30_000;
/** Maximum wait for attempts in flight on stop. */
const DRAIN_MS = 5_000;

export interface WebhooksOptions {
  store: Pick<Store, 'webhooks' | 'readFeed' | 'readConversions' | 'feedEnd'>;
  /** Returns the current workspaces. Changes of the file apply from the next message. */
  workspaces(): readonly Workspace[];
  /** Returns the value of an environment variable that the workspace file names. */
  readSecret: ReadSecret;
  /** Hostnames and addresses of private hosts that webhooks may reach. Default: none. */
  privateHosts?: ReadonlySet<string>;
  log: Log;
  /** Called after each attempt. */
  onAttempt: (state: WebhookState, attempt: WebhookAttempt) => void;
  /** Returns Unix milliseconds. Default: the system clock. */
  now?: () => number;
  pollMs?: number;
  leaseMs?: number;
  timeoutMs?: number;
  resolve?: Resolve;
  /** Default: the delays of `retry.ts`. */
  retryDelay?: typeof retryDelayMs;
}

/**
 * Delivers the events of workspaces to their webhooks. Any number of replicas may run this: one of them holds a webhook at a
 * time. Returns a function that stops the delivery.
 */
export const startWebhooks = (options: WebhooksOptions): (() => Promise<void>) => {
  const { store, workspaces, readSecret, log, onAttempt, privateHosts = new Set(), now = Date.now } = options;
  const { pollMs = POLL_MS, leaseMs = LEASE_MS, timeoutMs, resolve, retryDelay = retryDelayMs } = options;

  const runId = randomUUID();
  const stopping = new AbortController();
  const { signal } = stopping;
  const draining = new AbortController();
  const running = new Map<string, Promise<void>>();
  const { post, close } = createPost({ privateHosts, resolve, timeoutMs });
  const deliver = createDeliver({
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

  /** Returns the state of a webhook that this process holds. `null` if another process holds it. */
  const hold = async (workspaceId: string, webhook: Webhook): Promise<WebhookState | null> => {
    const { webhookId } = webhook;
    const state = await store.webhooks.state(workspaceId, webhookId);
    const nowMs = now();
    if (state?.runId === runId) {
      if (state.leaseUntilMs - nowMs > leaseMs / 2) return state;
      return (await store.webhooks.renew(state, nowMs + leaseMs)) ? state : null;
    }
    const isHeld = state && state.leaseUntilMs >= nowMs && state.leaseUntilMs <= nowMs + 2 * leaseMs;
    if (isHeld) return null;
    const start = state || webhook.from === 'start' ? START : await store.feedEnd();
    return store.webhooks.claim({ workspaceId, webhookId, runId, nowMs, leaseMs, start });
  };

  const run = async (workspaceId: string, webhook: Webhook) => {
    const held = await hold(workspaceId, webhook);
    if (!held) return;
    for (let step = { state: held, hasMore: true }; step.hasMore && !signal.aborted; )
      step = await deliver(webhook, step.state);
  };

  const look = ({ workspaceId, webhooks }: Workspace) => {
    for (const webhook of webhooks) {
      const { webhookId, isPaused } = webhook;
      const key = JSON.stringify([workspaceId, webhookId]);
      if (isPaused || running.has(key)) continue;
      const done = run(workspaceId, webhook)
        .catch((error: unknown) =>
          log.error(
            { workspace: workspaceId, webhook: webhookId, ...serializeError(error) },
            'webhook not run',
          ),
        )
        .finally(() => running.delete(key));
      running.set(key, done);
    }
  };

  const release = async ({ workspaceId, webhooks }: Workspace) => {
    if (webhooks.length === 0) return;
    const states = await store.webhooks.states(workspaceId);
    for (const state of states) if (state.runId === runId) await store.webhooks.release(state);
  };

  const poll = async () => {
    while (!signal.aborted) {
      for (const workspace of workspaces()) look(workspace);
      await wait(pollMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const polling = poll();

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
