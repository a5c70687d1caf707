import * as z from 'zod/mini';
import type { BannerEnvelope } from '../banners-sync.ts';
import { notValid } from '../error-codes.ts';
import { MAX_APP_VERSION_CHARACTERS, MAX_EXTERNAL_USER_ID_BYTES } from '../limits.ts';
import { fitsBytes, fitsCharacters } from '../text.ts';
import { MAX_USER_TOKEN_CHARACTERS } from '../user-token.ts';
import { textMember } from './text.ts';

/** The members with which the bodies of the banner endpoints begin. */
export const envelope = {
  external_user_id: textMember('external_user_id', (id) => fitsBytes(id, MAX_EXTERNAL_USER_ID_BYTES), {
    description: `ID of the user, at most ${MAX_EXTERNAL_USER_ID_BYTES} bytes.`,
    maxLength: MAX_EXTERNAL_USER_ID_BYTES,
  }),
  app_id: textMember('app_id', () => true, { description: 'App that asks, one of the workspace.' }),
  app_version: textMember('app_version', (version) => fitsCharacters(version, MAX_APP_VERSION_CHARACTERS), {
    description: `Version of the app, at most ${MAX_APP_VERSION_CHARACTERS} characters.`,
    maxLength: MAX_APP_VERSION_CHARACTERS,
  }),
  // Ours: other servers ignore it, and so do apps that take no tokens. Where an app takes them, it is judged before the rest.
  user_token: z.optional(
    z.unknown().check(
      z.meta({
        type: 'string',
        maxLength: MAX_USER_TOKEN_CHARACTERS,
        description: "Proof of the user, where the app takes it: a JWT that the host's backend signs.",
      }),
    ),
  ),
};

/** The body as its schema has it, or the text of the 400 that names the first thing wrong with it. */
export const readBody = <Body extends object>(
  schema: z.core.$ZodType<Body>,
  body: unknown,
): Body | string => {
  const read = z.safeParse(schema, body);
  return read.success ? read.data : read.error.issues[0]!.message;
};

/** The same of a body that begins with the envelope, whose app must be one that is known. */
export const readOfApp = <Body extends BannerEnvelope>(
  schema: z.ZodMiniType<Body>,
  body: unknown,
  isApp: (appId: string) => boolean,
): Body | string => {
  const read = readBody(schema, body);
  return typeof read === 'string' || isApp(read.app_id) ? read : notValid('app_id');
};
