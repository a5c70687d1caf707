import { checkAlias, idText, isRecord, MAX_PROFILE_ENTRIES, notValid } from '../../protocol/index.ts';
import { userLine } from '../export/lines.ts';
import { HttpError } from '../http-error.ts';
import type { Profile } from '../profiles/profile.ts';
import type { Lookup } from '../profiles/user-set.ts';
import type { Store } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Events and purchases that happened last before this many days are left out. */
const RECENT_MS = 90 * 24 * 60 * 60 * 1000;

const listOf = (body: Record<string, unknown>, name: string): unknown[] => {
  const value = body[name];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new HttpError(400, `'${name}' must be an array`);
  if (value.length > MAX_PROFILE_ENTRIES) {
    throw new HttpError(400, `'${name}' may not have more than ${MAX_PROFILE_ENTRIES} entries`);
  }
  return value;
};

const SINGLES = [
  ['braze_id', 'braze_id'],
  ['device_id', 'device_id'],
  ['email_address', 'email'],
  ['phone', 'phone'],
] as const;

const singlesOf = (body: Record<string, unknown>): Lookup[] => {
  const sent = SINGLES.filter(([name]) => body[name] !== undefined && body[name] !== null);
  if (sent.filter(([name]) => name !== 'braze_id').length > 1) {
    throw new HttpError(400, "Only one of 'device_id', 'email_address' or 'phone' is allowed");
  }
  return sent.map(([name, by]) => {
    const value = body[name];
    if (typeof value !== 'string' || value === '') throw new HttpError(400, notValid(name));
    return { by, value };
  });
};

const externalIdsOf = (body: Record<string, unknown>): string[] =>
  listOf(body, 'external_ids').map((value) => {
    const id = idText(value);
    if (id === undefined || id === '') throw new HttpError(400, notValid('external_ids'));
    return id;
  });

const aliasesOf = (body: Record<string, unknown>): Lookup[] =>
  listOf(body, 'user_aliases').map((value) => {
    const alias = checkAlias(value);
    if (!alias) throw new HttpError(400, notValid('user_aliases'));
    return { by: 'user_alias', value: alias };
  });

const fieldsOf = (body: Record<string, unknown>): Set<string> | null => {
  const { fields_to_export: fields } = body;
  if (fields === undefined || fields === null) return null;
  if (!Array.isArray(fields) || !fields.every((field) => typeof field === 'string')) {
    throw new HttpError(400, "'fields_to_export' must be an array of strings");
  }
  return new Set(fields);
};

const isRecent = (nowMs: number) => (done: unknown) =>
  isRecord(done) && Date.parse(String(done['last'])) >= nowMs - RECENT_MS;

/** One user as this endpoint answers it, with the fields that were asked for. */
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

/** `/users/export/ids`: every profile that one of the identifiers names, once. */
export const exportByIds = async (input: {
  workspace: Workspace;
  store: Store;
  body: unknown;
  nowMs: number;
}): Promise<Record<string, unknown>> => {
  const { workspace, store, body, nowMs } = input;
  if (!isRecord(body)) throw new HttpError(400, 'The body must be an object');
  const externalIds = externalIdsOf(body);
  const lookups: Lookup[] = [
    ...externalIds.map((value): Lookup => ({ by: 'external_id', value })),
    ...aliasesOf(body),
    ...singlesOf(body),
  ];
  const fields = fieldsOf(body);
  if (lookups.length === 0) {
    throw new HttpError(
      400,
      "'external_ids', 'user_aliases', 'braze_id', 'device_id', 'email_address' or 'phone' is required",
    );
  }
  const profiles = await store.readUsers(workspace.workspaceId, lookups);
  const found = new Set(profiles.map(({ externalId }) => externalId));
  const unknown = [...new Set(externalIds)].filter((id) => !found.has(id));
  return {
    message: 'success',
    users: profiles.map((profile) => exported(profile, fields, nowMs)),
    ...(unknown.length > 0 && { invalid_user_ids: unknown }),
  };
};
