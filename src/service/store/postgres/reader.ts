import type { Pool } from 'pg';
import type { Profile } from '../../profiles/profile.ts';
import { isNamedBy, lookupKey } from '../../profiles/user-key.ts';
import type { Lookup } from '../../profiles/user-set.ts';
import { unpackEvents } from '../packed-events.ts';
import type { BannerEventRow, Dismissal, StoreReader } from '../store.ts';
import { unpackProfile } from './packed-profile.ts';
import { readRows } from './read-rows.ts';
import { runIn } from './statement.ts';

const BY_KEYS = `SELECT users.packed_profile AS profile FROM user_keys JOIN users USING (braze_id, workspace_id)
  WHERE user_keys.workspace_id = $1 AND user_keys.key = ANY($2::text[])
  UNION SELECT packed_profile FROM users WHERE workspace_id = $1 AND braze_id = ANY($3::text[])`;

/** Reads what is committed. */
export const createReader = (pool: Pool) => {
  const run = runIn(pool);

  const profiles = async (workspaceId: string, lookups: Lookup[]): Promise<Profile[]> => {
    if (lookups.length === 0) return [];
    const keys = lookups.filter(({ by }) => by !== 'braze_id').map(lookupKey);
    // Text that PostgreSQL cannot hold is the ID of nobody.
    const ids = lookups.flatMap(({ by, value }) =>
      by === 'braze_id' && /^[0-9a-f]{25}$/.test(value as string) ? [value as string] : [],
    );
    const rows = await run<{ profile: string }>(BY_KEYS, [workspaceId, keys, ids]);
    return rows
      .map(({ profile }) => unpackProfile(profile))
      .filter((profile) => lookups.some((lookup) => isNamedBy(profile, lookup)));
  };

  return {
    profiles,

    dismissals: async (workspaceId: string, externalUserId: string): Promise<Dismissal[]> => {
      const found = await run<{ campaign_id: string; dismissed_at_ms: string; count: number }>(
        `SELECT campaign_id, dismissed_at_ms, count FROM dismissals
         WHERE external_user_id = $1 AND workspace_id = $2`,
        [externalUserId, workspaceId],
      );
      return found.map((row) => ({
        campaignId: row.campaign_id,
        dismissedAtMs: Number(row.dismissed_at_ms),
        count: row.count,
      }));
    },

    verbs: {
      workspaceIds: async () => {
        const found = await run<{ workspace_id: string }>(
          'SELECT workspace_id FROM secrets ORDER BY workspace_id',
        );
        return found.map((row) => row.workspace_id);
      },
      readUsers: profiles,

      async *dataPoints(workspaceId) {
        const found = await run<{ day: string; points: string }>(
          `SELECT day, sum(points) AS points FROM data_points WHERE workspace_id = $1
          GROUP BY day ORDER BY day`,
          [workspaceId],
        );
        for (const { day, points } of found) yield { day, points: Number(points) };
      },

      async *exportUsers(workspaceId) {
        const text = 'SELECT packed_profile AS profile FROM users WHERE workspace_id = $1';
        for await (const { profile } of readRows<{ profile: string }>(pool, text, [workspaceId])) {
          yield unpackProfile(profile);
        }
      },

      async *exportEvents(workspaceId) {
        const text = 'SELECT events, received_at_ms FROM events WHERE workspace_id = $1';
        for await (const row of readRows<{ events: string; received_at_ms: string }>(pool, text, [
          workspaceId,
        ])) {
          yield* unpackEvents(row.events, Number(row.received_at_ms));
        }
      },

      async *exportBannerEvents(workspaceId) {
        const text = 'SELECT * FROM banner_events WHERE workspace_id = $1 AND NOT is_test_send';
        for await (const row of readRows<Record<string, string>>(pool, text, [workspaceId])) {
          yield bannerEventOf(row);
        }
      },
    } satisfies Omit<StoreReader, 'close'>,
  };
};

const bannerEventOf = (row: Record<string, unknown>): BannerEventRow => ({
  externalUserId: row['external_user_id'] as string,
  appId: row['app_id'] as string,
  bannerId: row['banner_id'] as string,
  campaignId: row['campaign_id'] as string,
  variantId: row['variant_id'] as string | null,
  placementId: row['placement_id'] as string,
  isControl: row['is_control'] as boolean,
  isTestSend: row['is_test_send'] as boolean,
  eventType: row['event_type'] as BannerEventRow['eventType'],
  timestamp: row['timestamp'] as string,
  timestampMs: Number(row['timestamp_ms']),
  receivedAtMs: Number(row['received_at_ms']),
});
