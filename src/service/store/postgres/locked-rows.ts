import { unpackProfile } from './packed-profile.ts';
import type { Known } from './profile-cache.ts';

/** One for each user whose row is not as remembered; in the last one there is no ID. */
export interface LockedRow {
  braze_id: string | null;
  workspace_id: string;
  version: string;
  profile: string;
  /** The key by which he was found, if any, and whether somebody has written him since. */
  key: string | null;
  is_changed: boolean | null;
}

/** The user of a row; one who is remembered is brought up to date. */
export const readRow = (row: LockedRow, remembered: Known | undefined): Known => {
  const profile = unpackProfile(row.profile, remembered?.profile);
  const latest = { version: Number(row.version), characters: row.profile.length };
  if (remembered) return Object.assign(remembered, latest);
  return { workspaceId: row.workspace_id, profile, externalId: profile.externalId, ...latest };
};

/** False where a remembered user got another external ID: he may not be the one who was meant. */
export const isWhoWasMeant = ({ profile, externalId }: Known): boolean => profile.externalId === externalId;

/** Each with the version of the row that is remembered; no row has the one of those who are not. */
export const rowsOf = (known: Iterable<Known>): string[][] => {
  const rows: string[][] = [];
  for (const { profile, workspaceId, version } of known) {
    rows.push([profile.brazeId, workspaceId, String(version)]);
  }
  return rows;
};
