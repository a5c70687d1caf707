import type { Notice } from '../client/index.ts';
import { isRecord } from '../protocol/index.ts';

/** Message from the native host. */
export type HostMessage =
  | { type: 'identify'; userId: string | null }
  | { type: 'preview'; token: string }
  | { type: 'paused' }
  | { type: 'resumed' }
  | { type: 'refresh' }
  | { type: 'flush' };

const TYPES = ['identify', 'preview', 'paused', 'resumed', 'refresh', 'flush'] as const;
/** Maximum length of a message. Longer text is rejected without parsing. */
const MAX_CHARACTERS = 10_000;

const parsed = (input: unknown): unknown => {
  if (typeof input !== 'string') return input;
  if (input.length > MAX_CHARACTERS) throw new Error(`longer than ${MAX_CHARACTERS} characters`);
  return JSON.parse(input);
};

/** Parses a message, as text or object. Ignores unknown properties. Throws an `Error` that describes the problem if invalid. */
export const readHostMessage = (input: unknown): HostMessage => {
  const message = parsed(input);
  if (!isRecord(message)) throw new Error('expected an object with a type');
  const sent: unknown = Reflect.get(message, 'type');
  const type = TYPES.find((each) => each === sent);
  if (type === undefined) {
    throw new Error(`type: expected one of ${TYPES.join(', ')}, got ${JSON.stringify(sent)?.slice(0, 60)}`);
  }
  if (type === 'preview') {
    const token: unknown = Reflect.get(message, 'token');
    if (typeof token !== 'string' || token === '') throw new Error('token: expected a non-empty string');
    return { type, token };
  }
  if (type !== 'identify') return { type };
  const userId: unknown = Reflect.get(message, 'userId');
  if (userId !== null && (typeof userId !== 'string' || userId === '')) {
    throw new Error('userId: expected a non-empty string, or null to sign out');
  }
  return { type, userId };
};

/** Converts a notice to JSON for native code, with errors as their message. */
export const plainNotice = (notice: Notice): Record<string, unknown> => {
  if (notice.type !== 'failed') return { ...notice };
  const { cause, ...rest } = notice;
  return { ...rest, ...(cause instanceof Error && { cause: cause.message }) };
};
