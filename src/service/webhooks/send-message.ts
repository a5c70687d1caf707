import { WEBHOOK_FORMATS, type WebhookEvent } from '../data-out/formats.ts';
import { getErrorCode, getErrorMessage } from '../log.ts';
import { PrivateAddressError, WebhookConfigurationError } from './address.ts';
import type { Post } from './post.ts';
import { parseSecret, signedHeaders } from './sign.ts';
import type { Webhook } from './webhook.ts';

/** Result of an attempt. */
export interface SendResult {
  /** Status code of the response; `null` if no response arrived. */
  status: number | null;
  retryAfterMs: number | null;
  /** Error code such as `http_503`, `timeout` or `ECONNREFUSED`; `null` if the receiver accepted the message. */
  error: string | null;
  /** Whether every attempt fails until the configuration changes. */
  isMisconfigured: boolean;
}

export type ReadSecret = (variable: string) => string | undefined;

interface SendOptions {
  post: Post;
  readSecret: ReadSecret;
  nowMs: number;
  signal: AbortSignal;
}

const errorCode = (error: unknown): string => {
  if (error instanceof PrivateAddressError) return 'private_address';
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  if (error instanceof Error && error.cause instanceof Error) return errorCode(error.cause);
  return getErrorCode(error) ?? getErrorMessage(error);
};

/** Reads the signing keys. Throws an error with the name of the variable if a secret is missing or invalid. */
const readKeys = ({ secretVariables }: Webhook, readSecret: ReadSecret): Uint8Array[] =>
  secretVariables.map((variable) => {
    const secret = readSecret(variable);
    if (secret === undefined) throw new WebhookConfigurationError(`${variable} is not set`);
    try {
      return parseSecret(secret);
    } catch (error) {
      throw new WebhookConfigurationError(`${variable}: ${getErrorMessage(error)}`);
    }
  });

/** Sends events to the receiver of a webhook once. Reads the secrets for each attempt, so that a rotation needs no restart. */
export const sendMessage = async (
  webhook: Webhook,
  messageId: string,
  events: readonly WebhookEvent[],
  { post, readSecret, nowMs, signal }: SendOptions,
): Promise<SendResult> => {
  const format = WEBHOOK_FORMATS[webhook.format];
  const body = format.body(events);
  try {
    const keys = readKeys(webhook, readSecret);
    const token = webhook.tokenVariable === null ? null : readSecret(webhook.tokenVariable);
    if (token === undefined) throw new WebhookConfigurationError(`${webhook.tokenVariable} is not set`);
    const { status, retryAfterMs } = await post({
      url: new URL(webhook.url),
      headers: {
        'content-type': format.contentType,
        'user-agent': 'Placard',
        ...(webhook.format === 'currents' && { 'braze-currents-version': '1' }),
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...signedHeaders(keys, { id: messageId, timestamp: Math.floor(nowMs / 1_000), body }),
      },
      body,
      signal,
    });
    const isDelivered = status >= 200 && status < 300;
    return { status, retryAfterMs, error: isDelivered ? null : `http_${status}`, isMisconfigured: false };
  } catch (error) {
    const isMisconfigured = error instanceof WebhookConfigurationError;
    return { status: null, retryAfterMs: null, error: errorCode(error), isMisconfigured };
  }
};
