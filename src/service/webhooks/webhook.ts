import type { WebhookEventName } from '../data-out/event-types.ts';
import type { WebhookFormat } from '../data-out/formats.ts';

/** Entry of `webhooks` in the workspace file. */
export interface Webhook {
  webhookId: string;
  name: string;
  url: string;
  /** Types of events to deliver; `null` for all types except alerts. */
  eventTypes: ReadonlySet<WebhookEventName> | null;
  format: WebhookFormat;
  /** Names of the environment variables with the signing secrets, the current secret first, then the previous one. */
  secretVariables: readonly string[];
  /** Name of the environment variable with a bearer token; `null` if none is sent. */
  tokenVariable: string | null;
  /** Start of a new webhook. `now` delivers rows stored from now on, `start` all stored rows. */
  from: 'now' | 'start';
  isPaused: boolean;
}
