import * as z from 'zod';
import { isRecord, MAX_PROFILE_ENTRIES, required, TRACK_ERROR } from '../../protocol/index.ts';
import { defineRoute } from '../api/route.ts';
import { HttpError } from '../http/http-request.ts';
import type { Lookup } from '../profiles/lookup.ts';
import { addAlias, type NewAlias } from '../users/new-aliases.ts';
import { aliasMembers, newExternalId } from '../users/targets.ts';
import { BAD_ENTRIES, entries, invalidArrayEntry, invalidEntry, profileBody } from './profile-bodies.ts';

const ARRAY = 'user_aliases';

const aliasNewRequest = z.object({
  [ARRAY]: entries(
    z.object({
      external_id: newExternalId.nullish().describe('ID of the user; without one, a user is created.'),
      ...aliasMembers,
    }),
  ).describe('Aliases to add.'),
});
const aliasNewResponse = z.object({
  aliases_processed: z.int().describe('Processed entries.'),
  message: z.string().describe('`success`'),
});

const { read, ...request } = profileBody(aliasNewRequest, invalidArrayEntry);

/** Unwraps `user_alias` and treats `""` as a missing ID, because a recorded client sends both forms. */
const plain = (entry: unknown): unknown => {
  if (!isRecord(entry)) return entry;
  const { user_alias: wrapped, ...rest } = entry;
  if (rest['external_id'] === '') delete rest['external_id'];
  return isRecord(wrapped) ? { ...rest, ...wrapped } : rest;
};

const unwrapped = (body: unknown): unknown => {
  const list = isRecord(body) ? body[ARRAY] : undefined;
  return Array.isArray(list) ? { [ARRAY]: list.slice(0, MAX_PROFILE_ENTRIES + 1).map(plain) } : body;
};

/** `/users/alias/new`: returns the number of accepted entries. */
export const usersAliasNew = defineRoute({
  path: '/users/alias/new',
  permission: 'users.alias.new',
  limit: 'users_other',
  body: { ...request, read: (sent) => read(unwrapped(sent)) },
  response: { status: 201, schema: aliasNewResponse },
  writes: true,
  operation: {
    id: 'addAliases',
    tag: 'Users',
    summary: 'Add aliases to users',
    description: 'Without `external_id` an alias-only user is created.',
    example: { user_aliases: [{ external_id: 'u-771', alias_name: 'crm-90', alias_label: 'crm' }] },
    badRequest: BAD_ENTRIES,
  },
  async handler({ workspace, store, body, now }) {
    const aliases = body[ARRAY].map(({ external_id, ...alias }, index): NewAlias => {
      if (external_id != null && workspace.blockedExternalIds.has(external_id)) {
        throw invalidEntry(TRACK_ERROR.blockedExternalId, ARRAY, index);
      }
      return { externalId: external_id ?? null, alias };
    });
    if (aliases.length === 0) throw new HttpError(400, required(ARRAY));
    await store.write({
      workspaceId: workspace.workspaceId,
      lookups: aliases.flatMap(({ externalId, alias }): Lookup[] => [
        { by: 'user_alias', value: alias },
        ...(externalId === null ? [] : [{ by: 'external_id' as const, value: externalId }]),
      ]),
      nowMs: now,
      apply(users) {
        for (const alias of aliases) addAlias(users, alias, now);
      },
    });
    return { body: { aliases_processed: aliases.length, message: 'success' } };
  },
});
