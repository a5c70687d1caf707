import { MAX_PROFILE_ENTRIES, type UserAlias } from '../protocol/index.ts';
import type { Call } from './call.ts';

type Prioritization = ('identified' | 'unidentified' | 'most_recently_updated' | 'least_recently_updated')[];

/** User to merge, by exactly one identifier. */
export type MergeIdentifier =
  | { external_id: string }
  | { user_alias: UserAlias }
  | { email: string; prioritization: Prioritization }
  | { phone: string; prioritization: Prioritization };

/** Users to assign an `external_id`. Arrays may have any length. */
export interface IdentifyInput {
  aliases_to_identify?: { external_id: string; user_alias: UserAlias }[] | undefined;
  emails_to_identify?: { external_id: string; email: string; prioritization: Prioritization }[] | undefined;
  phone_numbers_to_identify?:
    | { external_id: string; phone: string; prioritization: Prioritization }[]
    | undefined;
}

/** Users to export, by exactly one kind of identifier. */
export interface ExportInput {
  external_ids?: string[] | undefined;
  user_aliases?: UserAlias[] | undefined;
  device_id?: string | undefined;
  braze_id?: string | undefined;
  email_address?: string | undefined;
  phone?: string | undefined;
  fields_to_export?: string[] | undefined;
}

/** Response of `exportUsers`. */
export interface ExportResponse {
  message: string;
  users: Record<string, unknown>[];
  invalid_user_ids?: string[];
}

/** Users to erase, by exactly one kind of identifier. Lists may have any length. */
type DeleteInput =
  | { external_ids: string[] }
  | { user_aliases: UserAlias[] }
  | { braze_ids: string[] }
  | { email_addresses: { email: string; prioritization: Prioritization }[] }
  | { phone_numbers: { phone: string; prioritization: Prioritization }[] };

/** Throws `TypeError` for anything but an array, because a Set would send nothing. */
const slices = <T>(name: string, entries: T[]): T[][] => {
  if (!Array.isArray(entries)) throw new TypeError(`${name}: expected an array`);
  return Array.from({ length: Math.ceil(entries.length / MAX_PROFILE_ENTRIES) }, (_, at) =>
    entries.slice(at * MAX_PROFILE_ENTRIES, (at + 1) * MAX_PROFILE_ENTRIES),
  );
};

export interface ProfileCalls {
  /** Assigns an `external_id`, or merges the user into the one who already has it. Returns the number of users processed. */
  identify(input: IdentifyInput, signal?: AbortSignal): Promise<number>;
  /** Merges the first user of each pair into the second, asynchronously. */
  merge(
    updates: { identifier_to_merge: MergeIdentifier; identifier_to_keep: MergeIdentifier }[],
    signal?: AbortSignal,
  ): Promise<void>;
  /** Adds aliases, or creates alias-only users. Returns the number of aliases processed. */
  newAliases(
    aliases: (UserAlias & { external_id?: string | undefined })[],
    signal?: AbortSignal,
  ): Promise<number>;
  /** Erases users and their data. Returns the number of erased users. */
  deleteUsers(input: DeleteInput, signal?: AbortSignal): Promise<number>;
  /** Returns up to 50 profiles, with the fields that have values. */
  exportUsers(input: ExportInput, signal?: AbortSignal): Promise<ExportResponse>;
}

export const createProfileCalls = (call: Call): ProfileCalls => {
  const post = async (path: string, body: unknown, signal?: AbortSignal): Promise<unknown> => {
    const text = JSON.stringify(body);
    return (await call({ method: 'POST', path, body: text, resetKind: 'epoch', idempotent: true, signal }))
      .body;
  };
  const processed = (body: unknown): number => {
    const { aliases_processed: count }: { aliases_processed?: unknown } = Object(body);
    return typeof count === 'number' ? count : 0;
  };

  return {
    async identify(input, signal) {
      let total = 0;
      // Unknown names are also sent, because the API rejects them.
      for (const [name, list] of Object.entries(input)) {
        for (const entries of slices<object>(name, list ?? [])) {
          total += processed(await post('/users/identify', { [name]: entries }, signal));
        }
      }
      return total;
    },
    async merge(updates, signal) {
      for (const entries of slices('updates', updates))
        await post('/users/merge', { merge_updates: entries }, signal);
    },
    async newAliases(aliases, signal) {
      let total = 0;
      for (const entries of slices('aliases', aliases)) {
        total += processed(await post('/users/alias/new', { user_aliases: entries }, signal));
      }
      return total;
    },
    async deleteUsers(input, signal) {
      let total = 0;
      for (const [name, list] of Object.entries(input)) {
        for (const entries of slices<unknown>(name, list)) {
          const { deleted } = Object(await post('/users/delete', { [name]: entries }, signal));
          if (typeof deleted === 'number') total += deleted;
        }
      }
      return total;
    },
    exportUsers: async (input, signal) => (await post('/users/export/ids', input, signal)) as ExportResponse,
  };
};
