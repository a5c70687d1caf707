import { MAX_PROFILE_ENTRIES } from '../protocol/index.ts';
import type { Call } from './call.ts';

export interface Alias {
  alias_name: string;
  alias_label: string;
}
type Prioritization = ('identified' | 'unidentified' | 'most_recently_updated' | 'least_recently_updated')[];

/** Whom to merge: exactly one way to find a user. */
export type MergeIdentifier =
  | { external_id: string }
  | { user_alias: Alias }
  | { email: string; prioritization: Prioritization }
  | { phone: string; prioritization: Prioritization };

export interface IdentifyInput {
  aliases_to_identify?: { external_id: string; user_alias: Alias }[];
  emails_to_identify?: { external_id: string; email: string; prioritization: Prioritization }[];
  phone_numbers_to_identify?: { external_id: string; phone: string; prioritization: Prioritization }[];
}

export interface ExportInput {
  external_ids?: string[];
  user_aliases?: Alias[];
  device_id?: string;
  braze_id?: string;
  email_address?: string;
  phone?: string;
  fields_to_export?: string[];
}

export interface ExportAnswer {
  message: string;
  users: Record<string, unknown>[];
  invalid_user_ids?: string[];
}

/** Slices of what one request may hold. */
const slices = <T>(entries: T[]): T[][] =>
  Array.from({ length: Math.ceil(entries.length / MAX_PROFILE_ENTRIES) }, (_, at) =>
    entries.slice(at * MAX_PROFILE_ENTRIES, (at + 1) * MAX_PROFILE_ENTRIES),
  );

/** The calls that join and name profiles, 50 entries a request, one request after another. */
export const createProfileCalls = (call: Call) => {
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
    /** Gives profiles without an `external_id` one, or merges them into the one that has it. Answers how many were processed. */
    async identify(input: IdentifyInput, signal?: AbortSignal): Promise<number> {
      let total = 0;
      for (const name of [
        'aliases_to_identify',
        'emails_to_identify',
        'phone_numbers_to_identify',
      ] as const) {
        for (const entries of slices<object>(input[name] ?? [])) {
          total += processed(await post('/users/identify', { [name]: entries }, signal));
        }
      }
      return total;
    },
    /** Merges the first user of each pair into the second. The service does it after it has answered. */
    async merge(
      updates: { identifier_to_merge: MergeIdentifier; identifier_to_keep: MergeIdentifier }[],
      signal?: AbortSignal,
    ): Promise<void> {
      for (const entries of slices(updates)) await post('/users/merge', { merge_updates: entries }, signal);
    },
    /** Adds aliases to users, or creates users who have only an alias. Answers how many were processed. */
    async newAliases(aliases: (Alias & { external_id?: string })[], signal?: AbortSignal): Promise<number> {
      let total = 0;
      for (const entries of slices(aliases)) {
        total += processed(await post('/users/alias/new', { user_aliases: entries }, signal));
      }
      return total;
    },
    /** The profiles of at most 50 users, with the members the service has values for. */
    exportUsers: async (input: ExportInput, signal?: AbortSignal): Promise<ExportAnswer> =>
      (await post('/users/export/ids', input, signal)) as ExportAnswer,
  };
};
