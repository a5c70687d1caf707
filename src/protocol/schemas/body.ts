import * as z from 'zod/mini';
import type { BannerEnvelope } from '../banners-sync.ts';
import { ERROR_MESSAGES, notValid, required } from '../errors.ts';
import { isPresent } from '../json.ts';
import { MAX_APP_VERSION_CHARACTERS, MAX_EXTERNAL_USER_ID_BYTES } from '../limits.ts';
import { fitsBytes, fitsCharacters, isStorableText } from '../text.ts';
import { MAX_USER_TOKEN_CHARACTERS } from '../user-token.ts';

// Lengths stand in `meta`, as JSON Schema counts: in Unicode code points, where zod's own bounds count UTF-16 units. A bound in
// bytes of UTF-8 is there too: no text of more code points fits it.

/** What the description of the API says of a member. */
interface Meta {
  description: string;
  maxLength?: number;
}

/** The fault of a member that must be there: `'name' is required`, or `'name' is not valid`. */
export const missingOrWrong =
  (name: string, isThere: (value: unknown) => boolean = isPresent) =>
  ({ input }: { input?: unknown }): string =>
    isThere(input) ? notValid(name) : required(name);

/** Text that must be there, and that every store can hold. */
export const textMember = (name: string, fits: (text: string) => boolean, meta: Meta) => {
  const error = missingOrWrong(name);
  return z.string({ error }).check(
    z.refine((text) => text !== '' && isStorableText(text) && fits(text), { error }),
    z.meta({ minLength: 1, ...meta }),
  );
};

/** The same where it may be missing: `null` and `''` are as good as absent. */
export const optionalTextMember = (name: string, fits: (text: string) => boolean, meta: Meta) => {
  const error = notValid(name);
  return z.pipe(
    z.nullish(
      z.string({ error }).check(
        z.refine((text) => isStorableText(text) && fits(text), { error }),
        z.meta({ ...meta }),
      ),
    ),
    z.transform((text) => text || undefined),
  );
};

/** A description of a member whose type says the rest. */
export const described = (description: string) => z.meta({ description });

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
  return typeof read === 'string' || isApp(read.app_id) ? read : ERROR_MESSAGES.unknownApp;
};
