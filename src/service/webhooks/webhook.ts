import type { DataEventName } from '../data-out/event-types.ts';
import type { WebhookFormat } from '../data-out/formats.ts';

/** An entry of `webhooks` in the workspace file. */
export interface Webhook {
  webhookId: string;
  name: string;
  url: string;
  /** `null` is all. */
  eventTypes: ReadonlySet<DataEventName> | null;
  format: WebhookFormat;
  /** Variables of the environment with the secrets that sign: the current one, then the previous one. */
  secretVariables: readonly string[];
  /** Variable with a bearer token; `null` if none is sent. */
  tokenVariable: string | null;
  /** What a new webhook begins with: rows that are stored from now on, or the first row that is kept. */
  from: 'now' | 'start';
  isPaused: boolean;
}
