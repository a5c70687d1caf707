import * as z from 'zod';
import { isEmail, isPhone, MAX_EMAIL_CHARACTERS, TRACK_ERROR } from '../../protocol/index.ts';
import { defineRoute } from '../api/route.ts';
import type { Lookup } from '../profiles/lookup.ts';
import type { Profile } from '../profiles/profile.ts';
import type { UserSet } from '../profiles/user-set.ts';
import { mergeProfile } from './merge.ts';
import {
  alias,
  BAD_ENTRIES,
  entries,
  findTarget,
  newExternalId,
  prioritization,
  profileBody,
  refuseEntry,
  refuseInArrays,
  type Target,
  targetOf,
} from './profile-bodies.ts';

const ARRAYS = ['aliases_to_identify', 'emails_to_identify', 'phone_numbers_to_identify'] as const;

const external_id = newExternalId;
const identifyRequest = z
  .object({
    aliases_to_identify: entries(z.object({ external_id, user_alias: alias }))
      .nullish()
      .describe('Users who have only an alias.'),
    emails_to_identify: entries(
      z.object({
        external_id,
        email: z
          .string()
          .refine(isEmail)
          .meta({ maxLength: MAX_EMAIL_CHARACTERS })
          .describe('E-mail address.'),
        prioritization,
      }),
    )
      .nullish()
      .describe('Users who have only an e-mail address.'),
    phone_numbers_to_identify: entries(
      z.object({
        external_id,
        phone: z.string().refine(isPhone).describe('Phone number with its country code.'),
        prioritization,
      }),
    )
      .nullish()
      .describe('Users who have only a phone number.'),
  })
  .refine((body) => ARRAYS.some((name) => (body[name]?.length ?? 0) > 0), {
    params: { words: `${ARRAYS.map((name) => `'${name}'`).join(' or ')} is required` },
  });

const processed = z.int().optional().describe('Entries that were worked on.');
const identifyAnswer = z.object({
  aliases_processed: processed,
  emails_processed: processed,
  phone_numbers_processed: processed,
  message: z.string().describe('`success`'),
});

interface Identification {
  externalId: string;
  target: Target;
}

const sharesLabel = (a: Profile, b: Profile): boolean =>
  a.aliases.some(({ alias_label }) => b.aliases.some((alias) => alias.alias_label === alias_label));

/**
 * Gives a profile an external ID. Where that ID has a profile, the two become one: the one that has it is filled up with
 * what it lacks, and what both had done is added up, like their rows of `events`. Nothing happens where both have an alias of
 * the same label.
 */
export const giveExternalId = (users: UserSet, found: Profile, externalId: string, nowMs: number): void => {
  const [known] = users.find({ by: 'external_id', value: externalId });
  if (!known) {
    found.externalId = externalId;
    users.changed(found, nowMs);
    return;
  }
  if (sharesLabel(known, found)) return;
  mergeProfile(known, found);
  users.merge(known, found, nowMs);
};

/** Identifies a profile without an external ID. No match and several matches are no errors: nothing happens. */
const identify = (users: UserSet, { externalId, target }: Identification, nowMs: number) => {
  const found = findTarget(users, target);
  if (found?.externalId === null) giveExternalId(users, found, externalId, nowMs);
};

/** `/users/identify`: answers how many entries of each array were taken. */
export const usersIdentify = defineRoute({
  method: 'POST',
  path: '/users/identify',
  permission: 'users.identify',
  errors: 'general',
  rate: 'general',
  limit: 'users_other',
  body: profileBody(identifyRequest, refuseInArrays),
  operation: {
    id: 'identifyUsers',
    tag: 'Users',
    summary: 'Identify alias-only, email-only and phone-only users',
    description: 'Succeeds also where it finds no such user.',
    example: {
      aliases_to_identify: [
        { external_id: 'u-771', user_alias: { alias_name: 'crm-90', alias_label: 'crm' } },
      ],
    },
    success: 201,
    response: identifyAnswer,
    writes: true,
    badRequest: BAD_ENTRIES,
  },
  async handler({ workspace, store, body, now }) {
    const answer: Record<string, unknown> = {};
    const identifications: Identification[] = [];
    for (const array of ARRAYS) {
      const list = body[array];
      if (!list) continue;
      for (const [index, { external_id: externalId, ...entry }] of list.entries()) {
        if (workspace.blockedExternalIds.has(externalId)) {
          throw refuseEntry(TRACK_ERROR.blockedExternalId, array, index);
        }
        identifications.push({ externalId, target: targetOf(entry) });
      }
      answer[array.replace('_to_identify', '_processed')] = list.length;
    }
    await store.write({
      workspaceId: workspace.workspaceId,
      lookups: identifications.flatMap(({ externalId, target }): Lookup[] => [
        target.lookup,
        { by: 'external_id', value: externalId },
      ]),
      nowMs: now,
      apply(users) {
        for (const identification of identifications) identify(users, identification, now);
      },
    });
    return { status: 201, body: { ...answer, message: 'success' } };
  },
});
