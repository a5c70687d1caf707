import * as z from 'zod';
import { isEmail, isPhone, MAX_EMAIL_CHARACTERS, TRACK_ERROR } from '../../protocol/index.ts';
import { defineRoute } from '../api/route.ts';
import type { Lookup } from '../profiles/lookup.ts';
import { type Identification, identify } from '../users/identify.ts';
import { alias, newExternalId, prioritization, toTarget } from '../users/targets.ts';
import { BAD_ENTRIES, entries, invalidArrayEntry, invalidEntry, profileBody } from './profile-bodies.ts';

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
    params: { message: `${ARRAYS.map((name) => `'${name}'`).join(' or ')} is required` },
  });

const processed = z.int().optional().describe('Processed entries.');
const identifyResponse = z.object({
  aliases_processed: processed,
  emails_processed: processed,
  phone_numbers_processed: processed,
  message: z.string().describe('`success`'),
});

/** `/users/identify`: returns the number of accepted entries per array. */
export const usersIdentify = defineRoute({
  path: '/users/identify',
  permission: 'users.identify',
  limit: 'users_other',
  body: profileBody(identifyRequest, invalidArrayEntry),
  response: { status: 201, schema: identifyResponse },
  writes: true,
  operation: {
    id: 'identifyUsers',
    tag: 'Users',
    summary: 'Identify alias-only, email-only and phone-only users',
    description: 'Succeeds even if no such user exists.',
    example: {
      aliases_to_identify: [
        { external_id: 'u-771', user_alias: { alias_name: 'crm-90', alias_label: 'crm' } },
      ],
    },
    badRequest: BAD_ENTRIES,
  },
  async handler({ workspace, store, body, now }) {
    const response: Record<string, unknown> = {};
    const identifications: Identification[] = [];
    for (const array of ARRAYS) {
      const list = body[array];
      if (!list) continue;
      for (const [index, { external_id: externalId, ...entry }] of list.entries()) {
        if (workspace.blockedExternalIds.has(externalId)) {
          throw invalidEntry(TRACK_ERROR.blockedExternalId, array, index);
        }
        identifications.push({ externalId, target: toTarget(entry) });
      }
      response[array.replace('_to_identify', '_processed')] = list.length;
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
    return { body: { ...response, message: 'success' } };
  },
});
