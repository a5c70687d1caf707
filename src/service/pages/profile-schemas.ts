import * as z from 'zod';
import {
  MAX_ALIAS_BYTES,
  MAX_EMAIL_CHARACTERS,
  MAX_EXTERNAL_ID_BYTES,
  MAX_PROFILE_ENTRIES,
} from '../../protocol/index.ts';
import { PRIORITIES } from '../users/find-user.ts';

/** What the profile operations take and answer, for the description of the API; the rules themselves live in `users/`. */
const aliasText = z.string().min(1).max(MAX_ALIAS_BYTES);
const alias = z.object({ alias_name: aliasText, alias_label: aliasText });
/** Recorded clients send numbers. */
const externalId = z.union([z.string().max(MAX_EXTERNAL_ID_BYTES), z.int()]);
const prioritization = z
  .array(z.enum(PRIORITIES))
  .describe(
    'Applied in order, `identified` and `unidentified` not both; if several users are left, nothing happens.',
  );
const entries = <T extends z.ZodType>(entry: T) => z.array(entry).max(MAX_PROFILE_ENTRIES);

export const identifyRequest = z.object({
  aliases_to_identify: entries(z.object({ external_id: externalId, user_alias: alias })).nullish(),
  emails_to_identify: entries(
    z.object({
      external_id: externalId,
      email: z.string().meta({ maxLength: MAX_EMAIL_CHARACTERS }),
      prioritization,
    }),
  ).nullish(),
  phone_numbers_to_identify: entries(
    z.object({ external_id: externalId, phone: z.string(), prioritization }),
  ).nullish(),
});
export const identifyAnswer = z.object({
  aliases_processed: z.int().optional(),
  emails_processed: z.int().optional(),
  phone_numbers_processed: z.int().optional(),
  message: z.string(),
});

const identifier = z.union([
  z.object({ external_id: externalId }),
  z.object({ user_alias: alias }),
  z.object({ email: z.string(), prioritization }),
  z.object({ phone: z.string(), prioritization }),
]);
export const mergeRequest = z.object({
  merge_updates: entries(z.object({ identifier_to_merge: identifier, identifier_to_keep: identifier })),
});
export const mergeAnswer = z.object({ message: z.string() });

export const aliasNewRequest = z.object({
  user_aliases: entries(alias.extend({ external_id: externalId.nullish() })),
});
export const aliasNewAnswer = z.object({ aliases_processed: z.int(), message: z.string() });

const addressed = (name: 'email' | 'phone') =>
  entries(z.union([z.string(), z.object({ [name]: z.string(), prioritization: prioritization.nullish() })]));
export const deleteRequest = z.object({
  external_ids: entries(externalId).nullish(),
  user_aliases: entries(alias).nullish(),
  braze_ids: entries(z.string()).nullish(),
  email_addresses: addressed('email').nullish(),
  phone_numbers: addressed('phone').nullish(),
});
export const deleteAnswer = z.object({ deleted: z.int(), message: z.string() });

export const exportIdsRequest = z.object({
  external_ids: entries(externalId).nullish(),
  user_aliases: entries(alias).nullish(),
  device_id: z.string().nullish(),
  braze_id: z.string().nullish(),
  email_address: z.string().nullish(),
  phone: z.string().nullish(),
  fields_to_export: z.array(z.string()).nullish(),
});
/** With `fields_to_export` even the ID of a user may be missing. */
export const exportIdsAnswer = z.object({
  message: z.string(),
  users: z.array(z.looseObject({ braze_id: z.string().optional(), external_id: z.string().optional() })),
  invalid_user_ids: z.array(z.string()).optional(),
});
