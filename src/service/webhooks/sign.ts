import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** Parses a secret of Standard Webhooks, which is 24 to 64 bytes in Base64, with or without `whsec_`. Throws if invalid. */
export const parseSecret = (text: string): Uint8Array => {
  const base64 = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
  const key = Buffer.from(base64, 'base64');
  const isBase64 = key.toString('base64') === base64;
  if (isBase64 && key.length >= MIN_BYTES && key.length <= MAX_BYTES) return key;
  throw new Error(`expected "${PREFIX}" and ${MIN_BYTES} to ${MAX_BYTES} bytes in base64`);
};

interface Signed {
  /** Message ID, the same for every attempt. */
  id: string;
  /** Time of this attempt in Unix seconds. */
  timestamp: number;
  /** Request body as sent. */
  body: string;
}

/** Returns the headers of Standard Webhooks 1.0.0, with a `v1` signature for each key. */
export const signedHeaders = (
  keys: readonly Uint8Array[],
  { id, timestamp, body }: Signed,
): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  ...(keys.length > 0 && {
    'webhook-signature': keys
      .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
      .join(' '),
  }),
});
