import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import {
  cursorSince,
  formatCursor,
  HttpError,
  TEST_PREFIX,
  type WebhookAttempt,
} from '../../../service/index.ts';
import { accepted, get, iso, post, type ResponseOf, type StudioContext } from '../route.ts';

/** Number of attempts in the table. */
const ATTEMPTS = 30;

/** Delivery status. `waiting` until the service has started the webhook. */
type DeliveryStatus = 'active' | 'failing' | 'disabled' | 'paused' | 'waiting';

const time = (ms: number | null) => (ms ? iso(ms) : null);

const getWebhook = ({ workspace, params }: StudioContext) => {
  const found = workspace.webhooks.find(({ webhookId }) => webhookId === params['id']);
  if (!found) throw new HttpError(404, 'Webhook not found in the workspace file');
  return found;
};

export const listWebhooks = get('/api/webhooks', 'view', async ({ workspace, store }) => {
  const states = await store.webhooks.states(workspace.workspaceId);
  return {
    webhooks: workspace.webhooks.map(({ webhookId, name, url, format, eventTypes, isPaused }) => {
      const state = states.find((each) => each.webhookId === webhookId);
      const {
        failures = 0,
        failingSinceMs = null,
        nextAttemptMs = null,
        disabledReason = null,
      } = state ?? {};
      const delivery: DeliveryStatus =
        disabledReason !== null ? 'disabled' : failures > 0 ? 'failing' : 'active';
      const status: DeliveryStatus = isPaused ? 'paused' : state ? delivery : 'waiting';
      return {
        id: webhookId,
        name,
        // Omits the path, because it may be a secret.
        host: new URL(url).host,
        format,
        eventTypes: eventTypes && [...eventTypes],
        status,
        failures,
        failingSince: time(failingSinceMs),
        nextAttempt: delivery === 'failing' ? time(nextAttemptMs) : null,
        disabledReason,
        deliveredThrough: state ? formatCursor(state.deliveredThrough) : null,
      };
    }),
  };
});
export type WebhooksResponse = ResponseOf<typeof listWebhooks>;

const attemptIn = (attempt: WebhookAttempt) => ({
  id: attempt.attemptId,
  messageId: attempt.messageId,
  isTest: attempt.messageId.startsWith(TEST_PREFIX),
  at: iso(attempt.attemptedAtMs),
  events: attempt.events,
  tookMs: attempt.durationMs,
  status: attempt.status,
  error: attempt.error,
});

export const readWebhook = get('/api/webhooks/{id}', 'view', async (context) => {
  const { webhookId } = getWebhook(context);
  const { workspace, store } = context;
  const attempts = await store.webhooks.attempts(workspace.workspaceId, webhookId, ATTEMPTS);
  const state = await store.webhooks.state(workspace.workspaceId, webhookId);
  const isPending = state !== null && state.resendMessageId !== null;
  return { attempts: attempts.map(attemptIn), isPending };
});
export type WebhookResponse = ResponseOf<typeof readWebhook>;

const notStarted = () => new HttpError(409, 'The webhook is starting. Try again in a few seconds');

/** Queues a message for the process that delivers the webhook. Throws a 409 if no process can deliver it. */
const queue = async (context: StudioContext, messageId: string) => {
  const { webhookId, isPaused } = getWebhook(context);
  const { workspaceId } = context.workspace;
  if (isPaused) throw new HttpError(409, 'The webhook is paused in the workspace file');
  if (!(await context.store.webhooks.state(workspaceId, webhookId))) throw notStarted();
  if (!(await context.store.webhooks.requestResend(workspaceId, webhookId, messageId)))
    throw new HttpError(409, 'Another message is queued. Try again in a few seconds');
  return webhookId;
};

export const testWebhook = post('/api/webhooks/{id}/test', 'publish', async (context) => {
  const messageId = TEST_PREFIX + randomUUID();
  await context.audit('webhook.test', await queue(context, messageId));
  return accepted({ messageId });
});

export const resendMessage = post(
  '/api/webhooks/{id}/resend',
  'publish',
  z.strictObject({ messageId: z.string() }),
  async (context) => {
    const { messageId } = context.body;
    const { webhookId } = getWebhook(context);
    const { workspaceId } = context.workspace;
    if (!(await context.store.webhooks.lastAttempt(workspaceId, webhookId, messageId)))
      throw new HttpError(404, 'Attempt not found, or expired');
    await context.audit('webhook.resend', await queue(context, messageId), messageId);
    return accepted({});
  },
);

export const replayWebhook = post(
  '/api/webhooks/{id}/replay',
  'publish',
  z.strictObject({ since: z.iso.datetime({ offset: true }) }),
  async (context) => {
    const { webhookId } = getWebhook(context);
    const { store, workspace, body, audit } = context;
    const cursor = await cursorSince(store, Date.parse(body.since));
    if (!(await store.webhooks.replay(workspace.workspaceId, webhookId, cursor))) throw notStarted();
    await audit('webhook.replay', webhookId, `since ${body.since}`);
    return accepted({});
  },
);

export const resumeWebhook = post('/api/webhooks/{id}/resume', 'publish', async (context) => {
  const { webhookId } = getWebhook(context);
  const { store, workspace, audit } = context;
  if (!(await store.webhooks.resume(workspace.workspaceId, webhookId))) throw notStarted();
  await audit('webhook.resume', webhookId);
  return accepted({});
});
