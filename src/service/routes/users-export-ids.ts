import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { DAY_MS, isRecord, MAX_PROFILE_ENTRIES, notValid } from '../../protocol/index.ts';
import { defineRoute } from '../api/route.ts';
import { userLine } from '../export/lines.ts';
import { HttpError } from '../http/http-request.ts';
import type { Lookup } from '../profiles/lookup.ts';
import type { Profile } from '../profiles/profile.ts';
import { alias, anyId, anyText } from '../users/targets.ts';
import { type BodyError, entries, profileBody } from './profile-bodies.ts';

/** Maximum age of the last occurrence of an exported event or purchase. Older ones are omitted. */
const RECENT_MS = 90 * DAY_MS;

/** Number of lookups or users processed before yielding, because a profile may have a megabyte. */
const READ_AT_ONCE = 2;

const single = anyText.nullish();
/** Lookup fields of which a request may contain at most one. */
const ADDRESSES = ['device_id', 'email_address', 'phone'] as const;

const exportIdsRequest = z
  .object({
    external_ids: entries(anyId).nullish().describe('IDs of users.'),
    user_aliases: entries(alias).nullish().describe('Aliases of users.'),
    device_id: single.describe('ID of a device of the user.'),
    braze_id: single.describe('ID that the service gave the user, in place of `external_id`.'),
    email_address: single.describe('E-mail address of a user.'),
    phone: single.describe('Phone number of a user.'),
    fields_to_export: z.array(z.string()).nullish().describe('Names of the members to return. Default all.'),
  })
  .refine((body) => ADDRESSES.filter((name) => body[name] != null).length < 2, {
    params: { message: "Only one of 'device_id', 'email_address' or 'phone' is allowed" },
    abort: true,
  })
  .refine((body) => toLookups(body).length > 0, {
    params: {
      message:
        "'external_ids', 'user_aliases', 'braze_id', 'device_id', 'email_address' or 'phone' is required",
    },
  });
/** Schema for the API description. With `fields_to_export`, even the user ID may be missing. */
const exportIdsResponse = z.object({
  message: z.string().describe('`success`'),
  users: z
    .array(
      z.looseObject({
        braze_id: z.string().optional().describe('ID that the service gave the user.'),
        external_id: z.string().optional().describe('ID of the user in your system.'),
      }),
    )
    .describe('One object a user, with the members that have a value.'),
  invalid_user_ids: z.array(z.string()).optional().describe('IDs of which there is no user.'),
});

interface Sent {
  external_ids?: string[] | null | undefined;
  user_aliases?: z.output<typeof alias>[] | null | undefined;
  device_id?: string | null | undefined;
  braze_id?: string | null | undefined;
  email_address?: string | null | undefined;
  phone?: string | null | undefined;
}

const toLookups = (sent: Sent): Lookup[] => {
  const { external_ids, user_aliases, device_id, braze_id, email_address, phone } = sent;
  return [
    ...(external_ids ?? []).map((value): Lookup => ({ by: 'external_id', value })),
    ...(user_aliases ?? []).map((value): Lookup => ({ by: 'user_alias', value })),
    ...(braze_id == null ? [] : [{ by: 'braze_id' as const, value: braze_id }]),
    ...(device_id == null ? [] : [{ by: 'device_id' as const, value: device_id }]),
    ...(email_address == null ? [] : [{ by: 'email' as const, value: email_address }]),
    ...(phone == null ? [] : [{ by: 'phone' as const, value: phone }]),
  ];
};

const toHttpError = ({ path: [name, index], isTooMany, message }: BodyError): HttpError => {
  if (name === undefined) return new HttpError(400, message ?? 'No user is named');
  const member = String(name);
  if (isTooMany)
    return new HttpError(400, `'${member}' may not have more than ${MAX_PROFILE_ENTRIES} entries`);
  if (member === 'fields_to_export') {
    return new HttpError(400, "'fields_to_export' must be an array of strings");
  }
  const isList = member === 'external_ids' || member === 'user_aliases';
  return new HttpError(
    400,
    isList && index === undefined ? `'${member}' must be an array` : notValid(member),
  );
};

const isRecent = (nowMs: number) => (done: unknown) =>
  isRecord(done) && Date.parse(String(done['last'])) >= nowMs - RECENT_MS;

/** Returns a user in the format of this endpoint, with the requested fields. */
const exported = (profile: Profile, fields: Set<string> | null, nowMs: number): Record<string, unknown> => {
  const line = userLine(profile);
  for (const name of ['custom_events', 'purchases']) {
    const recent = Array.isArray(line[name]) ? line[name].filter(isRecent(nowMs)) : [];
    if (recent.length > 0) line[name] = recent;
    else delete line[name];
  }
  const { current_location: location } = line;
  if (isRecord(location)) line['last_coordinates'] = [location['longitude'], location['latitude']];
  delete line['current_location'];
  if (!fields) return line;
  return Object.fromEntries(Object.entries(line).filter(([name]) => fields.has(name)));
};

/** `/users/export/ids`: returns every profile that matches an identifier, once. */
export const usersExportIds = defineRoute({
  path: '/users/export/ids',
  permission: 'users.export.ids',
  limit: 'users_export_ids',
  body: profileBody(exportIdsRequest, toHttpError),
  response: { status: 201, schema: exportIdsResponse },
  operation: {
    id: 'exportUsers',
    tag: 'Users',
    summary: 'Export users',
    description: 'Returns all data of these users, or the requested fields.',
    example: { external_ids: ['u-771'], fields_to_export: ['external_id', 'custom_attributes'] },
    badRequest: 'No user was named, or in the wrong way.',
  },
  async handler({ workspace, store, body, now }) {
    const fields = body.fields_to_export ? new Set(body.fields_to_export) : null;
    const lookups = toLookups(body);
    // Encodes each user separately, because encoding a text of 45 MB at the end would block other requests.
    const users = new Map<number, Buffer<ArrayBuffer>>();
    const found = new Set<string | null>();
    for (let at = 0; at < lookups.length; at += READ_AT_ONCE) {
      const some = lookups.slice(at, at + READ_AT_ONCE);
      for (const [nth, profile] of (await store.readUsers(workspace.workspaceId, some)).entries()) {
        // Thousands of users may share an address.
        if (nth > 0 && nth % READ_AT_ONCE === 0) await setImmediate();
        users.set(profile.userId, Buffer.from(`,${JSON.stringify(exported(profile, fields, now))}`));
        found.add(profile.externalId);
      }
      await setImmediate();
    }
    const unknown = [...new Set(body.external_ids ?? [])].filter((id) => !found.has(id));
    const invalid = unknown.length > 0 ? `,"invalid_user_ids":${JSON.stringify(unknown)}` : '';
    const [first = Buffer.of(), ...others] = users.values();
    const [begin, end] = [Buffer.from('{"message":"success","users":['), Buffer.from(`]${invalid}}`)];
    return { parts: [begin, first.subarray(1), ...others, end] };
  },
});
