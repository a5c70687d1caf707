import { MAX_PROFILE_ENTRIES, type UserAlias } from '../protocol/index.ts';
import type { Call } from './call.ts';

type Prioritization = ('identified' | 'unidentified' | 'most_recently_updated' | 'least_recently_updated')[];

/** Whom to merge: exactly one way to find a user. */
export type MergeIdentifier =
  | { external_id: string }
  | { user_alias: UserAlias }
  | { email: string; prioritization: Prioritization }
  | { phone: string; prioritization: Prioritization };

/** Who gets an `external_id`. Each array may be of any length. */
export interface IdentifyInput {
  aliases_to_identify?: { external_id: string; user_alias: UserAlias }[];
  emails_to_identify?: { external_id: string; email: string; prioritization: Prioritization }[];
  phone_numbers_to_identify?: { external_id: string; phone: string; prioritization: Prioritization }[];
}

/** Whose profiles to export: exactly one way to find users, and which members of them. */
export interface ExportInput {
  external_ids?: string[];
  user_aliases?: UserAlias[];
  device_id?: string;
  braze_id?: string;
  email_address?: string;
  phone?: string;
  fields_to_export?: string[];
}

/** Profiles, and the identifiers that are no user. */
export interface ExportAnswer {
  message: string;
  users: Record<string, unknown>[];
  invalid_user_ids?: string[];
}

/** Whom to erase: exactly one way to find users, in a list of any length. */
type DeleteInput =
  | { external_ids: string[] }
  | { user_aliases: UserAlias[] }
  | { braze_ids: string[] }
  | { email_addresses: { email: string; prioritization: Prioritization }[] }
  | { phone_numbers: { phone: string; prioritization: Prioritization }[] };

/** Slices of what one request may hold. Throws for what is no array: of a Set nothing would be sent, and all would seem well. */
const slices = <T>(name: string, entries: T[]): T[][] => {
  if (!Array.isArray(entries)) throw new TypeError(`${name}: expected an array`);
  return Array.from({ length: Math.ceil(entries.length / MAX_PROFILE_ENTRIES) }, (_, at) =>
    entries.slice(at * MAX_PROFILE_ENTRIES, (at + 1) * MAX_PROFILE_ENTRIES),
  );
};

/** The calls that join, name and read profiles. */
export interface ProfileCalls {
  /** Gives profiles without an `external_id` one, or merges them into the one that has it. Resolves with how many were processed. */
  identify(input: IdentifyInput, signal?: AbortSignal): Promise<number>;
  /** Merges the first user of each pair into the second. The service does it after it has answered. */
  merge(
    updates: { identifier_to_merge: MergeIdentifier; identifier_to_keep: MergeIdentifier }[],
    signal?: AbortSignal,
  ): Promise<void>;
  /** Adds aliases to users, or creates users who have only an alias. Resolves with how many were processed. */
  newAliases(aliases: (UserAlias & { external_id?: string })[], signal?: AbortSignal): Promise<number>;
  /** Erases users with everything that is stored of them. Resolves with how many there were. */
  deleteUsers(input: DeleteInput, signal?: AbortSignal): Promise<number>;
  /** The profiles of at most 50 users, with the members the service has values for. */
  exportUsers(input: ExportInput, signal?: AbortSignal): Promise<ExportAnswer>;
}

/** 50 entries a request, one request after another. */
export const createProfileCalls = (call: Call): ProfileCalls => {
  const post = async (path: string, body: unknown, signal?: AbortSignal): Promise<unknown> => {
    const text = JSON.stringify(body);
    return (await call({ method: 'POST', path, body: text, resetKind: 'epoch', repeatable: true, signal }))
      .body;
  };
  const processed = (body: unknown): number => {
    const count = (body as { aliases_processed?: unknown } | null)?.aliases_processed;
    return typeof count === 'number' ? count : 0;
  };

  return {
    async identify(input, signal) {
      let total = 0;
      // A name that the service does not know is for the service to refuse.
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
    exportUsers: async (input, signal) => (await post('/users/export/ids', input, signal)) as ExportAnswer,
  };
};
