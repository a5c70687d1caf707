import * as z from 'zod';
import { getKeys } from '../../protocol/index.ts';
import { WEBHOOK_EVENT_NAMES } from '../data-out/event-types.ts';
import { WEBHOOK_FORMATS } from '../data-out/formats.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { named, optional, text } from './schema-helpers.ts';

const FORMATS = getKeys(WEBHOOK_FORMATS);

const isWebhookUrl = (address: string): boolean => {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password } = new URL(address);
  return /^https?:$/.test(protocol) && username === '' && password === '';
};

const variable = text.regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of an environment variable' });

/** Schema of an entry of `webhooks`. */
export const webhookFile = z
  .strictObject({
    webhook_id: text.describe("Key of the webhook's cursor in the database; do not change it"),
    name: named,
    url: z
      .string()
      .refine(isWebhookUrl, {
        error: 'expected an https: URL without a user name and password',
        params: { tellsGot: true },
      })
      .describe(
        'URL of the receiver, such as `https://hooks.example/placard`; `http:` only for hosts in `PLACARD_WEBHOOK_PRIVATE_HOSTS`',
      ),
    event_types: optional(z.array(z.enum(WEBHOOK_EVENT_NAMES)).min(1)).describe(
      'Event types; default all except `placard.alert`',
    ),
    format: optional(z.enum(FORMATS)).describe(
      '`currents` (default): `{"events": […]}`; `cloudevents`: a JSON batch of CloudEvents 1.0',
    ),
    secret_env: optional(variable).describe(
      'Environment variable with the signing secret, `whsec_…` (with suffix `_FILE`: its file)',
    ),
    previous_secret_env: optional(variable).describe(
      'Environment variable with the previous secret, which also signs during rotation',
    ),
    token_env: optional(variable).describe(
      'Environment variable with a token for `Authorization: Bearer`; default none',
    ),
    from: optional(z.enum(['now', 'start'])).describe(
      'First row of a new webhook: `now` (default), or `start`, the oldest stored row',
    ),
    paused: optional(z.boolean()).describe('Pauses delivery without losing rows; default `false`'),
  })
  .superRefine(({ secret_env, previous_secret_env }, context) => {
    if (previous_secret_env === undefined || secret_env !== undefined) return;
    context.addIssue({
      code: 'custom',
      path: ['secret_env'],
      message: "expected it beside 'previous_secret_env'",
    });
  });
type WebhookFile = z.output<typeof webhookFile>;

export const toWebhook = (file: WebhookFile): Webhook => ({
  webhookId: file.webhook_id,
  name: file.name ?? file.webhook_id,
  url: file.url,
  eventTypes: file.event_types ? new Set(file.event_types) : null,
  format: file.format ?? 'currents',
  secretVariables: [file.secret_env, file.previous_secret_env].filter((name) => name !== undefined),
  tokenVariable: file.token_env ?? null,
  from: file.from ?? 'now',
  isPaused: file.paused ?? false,
});
