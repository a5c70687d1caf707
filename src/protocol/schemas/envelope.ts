import * as z from 'zod/mini';
import { MAX_APP_VERSION_CHARACTERS, MAX_EXTERNAL_USER_ID_BYTES } from '../limits.ts';
import { bytes, characters } from './text.ts';

/** The members with which the bodies of both banner endpoints begin. */
export const envelope = {
  external_user_id: bytes(MAX_EXTERNAL_USER_ID_BYTES),
  app_id: z.string().check(z.minLength(1)),
  app_version: characters(MAX_APP_VERSION_CHARACTERS),
};
