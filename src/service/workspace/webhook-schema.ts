import * as z from 'zod';
import { DATA_EVENT_NAMES } from '../data-out/event-types.ts';
import { WEBHOOK_FORMATS, type WebhookFormat } from '../data-out/formats.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { named, optional, text } from './schema-helpers.ts';

const FORMATS = Object.keys(WEBHOOK_FORMATS) as WebhookFormat[];

const isWebhookUrl = (address: string): boolean => {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password } = new URL(address);
  return /^https?:$/.test(protocol) && username === '' && password === '';
};

const variable = text.regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of an environment variable' });

/** An entry of `webhooks`. */
export const webhookFile = z
  .strictObject({
    webhook_id: text.describe('ID by which the database knows how far it is delivered'),
    name: named,
    url: z
      .string()
      .refine(isWebhookUrl, {
        error: 'expected an https: URL without a user name and password',
        params: { tellsGot: true },
      })
      .describe(
        'Receiver, such as `https://hooks.example/placard`; `http:` only for hosts in `PLACARD_WEBHOOK_PRIVATE_HOSTS`',
      ),
    event_types: optional(z.array(z.enum(DATA_EVENT_NAMES)).min(1)).describe(
      'Types of events that it gets; default all',
    ),
    format: optional(z.enum(FORMATS)).describe(
      '`currents` (default): `{"events": […]}`; `cloudevents`: a JSON batch of CloudEvents 1.0',
    ),
    secret_env: optional(variable).describe(
      'Variable of the environment with the secret that signs (`whsec_…`), or with `_FILE` behind it the file that holds it',
    ),
    previous_secret_env: optional(variable).describe(
      'The same for the previous secret, which signs as well while you rotate',
    ),
    token_env: optional(variable).describe('Variable with a token for `Authorization: Bearer`; default none'),
    from: optional(z.enum(['now', 'start'])).describe(
      'What a new webhook begins with: `now` (default), or `start`, the first row that is kept',
    ),
    paused: optional(z.boolean()).describe('`true`: nothing is sent, and nothing is lost; default `false`'),
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

export const webhookOf = (file: WebhookFile): Webhook => ({
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
