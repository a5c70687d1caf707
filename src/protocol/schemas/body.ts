import * as z from 'zod/mini';
import type { BannerEnvelope } from '../banners-sync.ts';
import { ERROR_MESSAGES, notValid, required } from '../errors.ts';
import { isPresent } from '../json.ts';
import { MAX_APP_VERSION_CHARACTERS, MAX_EXTERNAL_USER_ID_BYTES } from '../limits.ts';
import { fitsBytes, fitsCharacters, isStorableText } from '../text.ts';
import { MAX_USER_TOKEN_CHARACTERS } from '../user-token.ts';

// Length limits are in `meta`, because JSON Schema counts Unicode code points and zod counts UTF-16 units. Limits in UTF-8 bytes
// are in `meta`, too, because no valid text has more code points than bytes.

/** API description of a property. */
interface Meta {
  description: string;
  maxLength?: number;
}

/** Creates the error message of a required property: `'name' is required`, or `'name' is not valid`. */
export const missingOrWrong =
  (name: string, isThere: (value: unknown) => boolean = isPresent) =>
  ({ input }: { input?: unknown }): string =>
    isThere(input) ? notValid(name) : required(name);

/** Creates the schema of a required string that every store can hold. */
export const textMember = (name: string, fits: (text: string) => boolean, meta: Meta) => {
  const error = missingOrWrong(name);
  return z.string({ error }).check(
    z.refine((text) => text !== '' && isStorableText(text) && fits(text), { error }),
    z.meta({ minLength: 1, ...meta }),
  );
};

/** Creates the schema of an optional string that every store can hold. `null` and `''` count as absent. */
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

/** Creates the description of a property whose type needs no further schema. */
export const described = (description: string) => z.meta({ description });

/** Schemas of `BannerEnvelope`. */
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
  // Placard extension, which other servers and apps without user tokens ignore. Otherwise, the token is verified before the rest
  // of the body.
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

/** Parses a body by its schema, or returns the 400 message for the first problem. */
export const readBody = <Body extends object>(
  schema: z.core.$ZodType<Body>,
  body: unknown,
): Body | string => {
  const read = z.safeParse(schema, body);
  return read.success ? read.data : read.error.issues[0]!.message;
};

/** Parses a body with the envelope like `readBody`. The app must exist. */
export const readOfApp = <Body extends BannerEnvelope>(
  schema: z.ZodMiniType<Body>,
  body: unknown,
  isApp: (appId: string) => boolean,
): Body | string => {
  const read = readBody(schema, body);
  return typeof read === 'string' || isApp(read.app_id) ? read : ERROR_MESSAGES.unknownApp;
};
