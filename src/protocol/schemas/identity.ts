import * as z from 'zod/mini';
import { isEmail, isPhone } from '../contacts.ts';
import { notValid, TRACK_ERROR } from '../errors.ts';
import { isPresent, isRecord } from '../json.ts';
import { MAX_ALIAS_BYTES, MAX_EMAIL_CHARACTERS, MAX_EXTERNAL_ID_BYTES } from '../limits.ts';
import { fitsBytes, isStorableText } from '../text.ts';
import type { Identifier, UserAlias } from '../users-track.ts';
import { described } from './body.ts';

/** Collects the issues of an object. */
export interface IssueCollector {
  add(type: string): void;
}

export const isAliasText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && fitsBytes(value, MAX_ALIAS_BYTES) && isStorableText(value);

/** Returns the alias without other properties; `null` if invalid. */
export const checkAlias = (value: unknown): UserAlias | null => {
  if (!isRecord(value)) return null;
  const { alias_name, alias_label } = value;
  return isAliasText(alias_name) && isAliasText(alias_label) ? { alias_name, alias_label } : null;
};

/**
 * Converts an ID to a string. Returns `undefined` if invalid. Some clients send numbers, which become decimal digits. Numbers
 * beyond the safe integers are invalid, because they have lost precision and would identify another user.
 */
export const idText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
};

const checkExternalId = (
  value: unknown,
  blocked: ReadonlySet<string>,
): { value: string } | { problem: string } => {
  const text = idText(value);
  if (text === undefined || text === '') return { problem: notValid('external_id') };
  if (!fitsBytes(text, MAX_EXTERNAL_ID_BYTES)) return { problem: TRACK_ERROR.externalIdTooLarge };
  if (!isStorableText(text)) return { problem: notValid('external_id') };
  if (blocked.has(text)) return { problem: TRACK_ERROR.blockedExternalId };
  return { value: text };
};

/** User of an object, with the email and phone to write to the profile. */
export interface Identity {
  lookup: Identifier;
  /**
   * Email address and phone number to write, if not the lookup identifier. `null` clears a value; `undefined` leaves it
   * unchanged.
   */
  email: string | null | undefined;
  phone: string | null | undefined;
  updateExistingOnly: boolean | undefined;
}

/**
 * Validates the identifiers of an object (contract 4.1), and whether it may create a user. Reports the problem and returns `null`
 * if there is not exactly one lookup identifier, or the flag is invalid.
 */
export const checkIdentity = (
  object: Record<string, unknown>,
  blocked: ReadonlySet<string>,
  issues: IssueCollector,
): Identity | null => {
  const { external_id, user_alias, braze_id, email, phone } = object;
  const hasExternalId = isPresent(external_id);
  const hasAlias = isPresent(user_alias);
  const hasBrazeId = isPresent(braze_id);
  if (Number(hasExternalId) + Number(hasAlias) + Number(hasBrazeId) > 1) {
    issues.add(TRACK_ERROR.severalPrimaries);
    return null;
  }
  let lookup: Identifier | null = null;
  if (hasExternalId) {
    const checked = checkExternalId(external_id, blocked);
    if ('problem' in checked) {
      issues.add(checked.problem);
      return null;
    }
    lookup = { by: 'external_id', value: checked.value };
  } else if (hasAlias) {
    const alias = checkAlias(user_alias);
    if (!alias) {
      issues.add(notValid('user_alias'));
      return null;
    }
    lookup = { by: 'user_alias', value: alias };
  } else if (hasBrazeId) {
    if (typeof braze_id !== 'string' || !isStorableText(braze_id)) {
      issues.add(notValid('braze_id'));
      return null;
    }
    lookup = { by: 'braze_id', value: braze_id };
  }

  const hasEmail = isPresent(email);
  const hasPhone = isPresent(phone);
  const emailIsValid = hasEmail && isEmail(email);
  const phoneIsValid = hasPhone && isPhone(phone);
  if (hasEmail && !emailIsValid) {
    issues.add(TRACK_ERROR.emailBadFormat);
    if (!lookup) return null;
  }
  if (!lookup && emailIsValid) lookup = { by: 'email', value: email };
  if (hasPhone && !phoneIsValid) {
    issues.add(notValid('phone'));
    if (!lookup) return null;
  }
  if (!lookup && phoneIsValid) lookup = { by: 'phone', value: phone };
  if (!lookup) {
    issues.add(TRACK_ERROR.identifierRequired);
    return null;
  }
  const { _update_existing_only: updateExistingOnly } = object;
  const isFlag = typeof updateExistingOnly === 'boolean';
  if (!isFlag && updateExistingOnly !== undefined && updateExistingOnly !== null) {
    // Not ignored, because `"true"` was meant to prevent the creation of the user.
    issues.add(notValid('_update_existing_only'));
    return null;
  }
  // A valid value is written, `null` clears the property, and any other value leaves it unchanged.
  const newEmail = emailIsValid || email === null ? email : undefined;
  const newPhone = phoneIsValid || phone === null ? phone : undefined;
  return {
    lookup,
    email: lookup.by === 'email' ? undefined : newEmail,
    phone: lookup.by === 'phone' ? undefined : newPhone,
    updateExistingOnly: isFlag ? updateExistingOnly : undefined,
  };
};

/** Returns a function that checks whether a reader accepts the value without a problem. */
export const hasNoIssues = (
  read: (value: unknown, blocked: ReadonlySet<string>, issues: IssueCollector) => unknown,
) => {
  const none = new Set<string>();
  return z.refine((value: unknown) => {
    let hasIssue = false;
    const add = () => {
      hasIssue = true;
    };
    return read(value, none, { add }) !== null && !hasIssue;
  });
};

const aliasText = (description: string) =>
  z.string().check(z.meta({ minLength: 1, maxLength: MAX_ALIAS_BYTES, description }));

/**
 * At most one of the first three is allowed. `email` and `phone` identify the user if none of the three is set. `null` and `""`
 * count as absent.
 */
export const identifiers = {
  external_id: z
    .nullish(z.union([z.string().check(z.meta({ maxLength: MAX_EXTERNAL_ID_BYTES })), z.int()]))
    .check(described(`ID of the user in your system, at most ${MAX_EXTERNAL_ID_BYTES} bytes.`)),
  user_alias: z
    .nullish(
      z.union([
        z.literal(''),
        z.object({
          alias_name: aliasText(`Alias, at most ${MAX_ALIAS_BYTES} bytes.`),
          alias_label: aliasText(`Type of the alias, at most ${MAX_ALIAS_BYTES} bytes.`),
        }),
      ]),
    )
    .check(described('Alias of the user, in place of `external_id`.')),
  braze_id: z
    .nullish(z.string())
    .check(described('ID that the service gave the user, in place of `external_id`.')),
  email: z
    .nullish(z.string().check(z.meta({ maxLength: MAX_EMAIL_CHARACTERS })))
    .check(
      described(
        `Email address, at most ${MAX_EMAIL_CHARACTERS} characters; identifies the user if there is neither an ID nor an alias.`,
      ),
    ),
  phone: z
    .nullish(z.string())
    .check(
      described('Phone number with its country code; identifies the user if there is no ID, alias or email.'),
    ),
  _update_existing_only: z
    .nullish(z.boolean())
    .check(
      described(
        '`true`: no new user is made. Default: only an unknown alias makes none; `false`: it does, too.',
      ),
    ),
};
