import type { Pool } from 'pg';
import type { BannerEventRow } from '../../profiles/banner-event.ts';
import type { Profile } from '../../profiles/profile.ts';
import type { StoredEvent } from '../../profiles/stored-event.ts';
import type { BannerUser, StoreReader } from '../store.ts';
import { namedBy, readUsers } from './find-users.ts';
import { readRows } from './read-rows.ts';
import { retryConflicts } from './retry.ts';
import { runIn } from './statement.ts';
import { campaignOf, type SentCampaign, type SentUser, userOf } from './user-rows.ts';
import { CAMPAIGNS_OF, MS, READ_USERS, USER_COLUMNS } from './user-statements.ts';

const USERS = `SELECT ${USER_COLUMNS} FROM users WHERE workspace_id = $1 AND profile IS NOT NULL`;
const EVENTS = `SELECT events.user_id, external_id, name, product_id, price, currency, quantity, app_id, properties,
    ${MS('time')} AS time_ms, ${MS('received_at')} AS received_ms
  FROM events JOIN users USING (user_id) WHERE events.workspace_id = $1`;
const BANNER_EVENTS = `SELECT banner_events.*, external_id, ${MS('time')} AS time_ms, ${MS('received_at')} AS received_ms
  FROM banner_events JOIN users USING (user_id) WHERE banner_events.workspace_id = $1 AND NOT is_test_send`;

interface SentEvent {
  user_id: string;
  external_id: string | null;
  name: string | null;
  product_id: string | null;
  price: number;
  currency: string;
  quantity: number;
  app_id: string | null;
  properties: Record<string, unknown> | null;
  time_ms: number;
  received_ms: number;
}

const eventOf = (row: SentEvent): StoredEvent => {
  const ofUser = {
    externalId: row.external_id,
    userId: Number(row.user_id),
    appId: row.app_id,
    timeMs: Math.round(row.time_ms),
    receivedAtMs: Math.round(row.received_ms),
    properties: row.properties,
  };
  if (row.product_id === null) return { kind: 'event', name: row.name!, ...ofUser };
  const { product_id: productId, currency, price, quantity } = row;
  return { kind: 'purchase', productId, currency, price, quantity, ...ofUser };
};

const bannerEventOf = (row: Record<string, unknown>): BannerEventRow => ({
  userId: Number(row['user_id']),
  externalId: row['external_id'] as string,
  appId: row['app_id'] as string,
  bannerId: row['banner_id'] as string,
  campaignId: row['campaign_id'] as string,
  variantId: row['variant_id'] as string | null,
  placementId: row['placement_id'] as string,
  isControl: row['is_control'] as boolean,
  isTestSend: row['is_test_send'] as boolean,
  eventType: row['event_type'] as BannerEventRow['eventType'],
  timeMs: Math.round(row['time_ms'] as number),
  receivedAtMs: Math.round(row['received_ms'] as number),
});

/** Reads what is committed. */
export const createReader = (pool: Pool) => {
  const run = runIn(pool);

  const users = async (...asked: Parameters<StoreReader['readUsers']>) => {
    const [workspaceId, lookups] = asked;
    const named = namedBy([{ workspaceId, lookups }]);
    return retryConflicts(() => readUsers(run, named, { statement: READ_USERS }));
  };

  return {
    async bannerUser(workspaceId: string, externalId: string): Promise<BannerUser> {
      const [user] = await users(workspaceId, [{ by: 'external_id', value: externalId }]);
      if (!user) return { profile: null, campaigns: [] };
      const campaigns = await run<SentCampaign>(CAMPAIGNS_OF, [user.userId]);
      return { profile: user.profile, campaigns: campaigns.map(campaignOf) };
    },

    verbs: {
      async workspaceIds() {
        const found = await run<{ workspace_id: string }>(
          'SELECT workspace_id FROM secrets ORDER BY workspace_id',
        );
        return found.map((row) => row.workspace_id);
      },

      async readUsers(workspaceId, lookups) {
        return (await users(workspaceId, lookups)).flatMap(({ profile }) => profile ?? []);
      },

      async *dataPoints(workspaceId) {
        const found = await run<{ day: string; points: string }>(
          'SELECT day::text, points FROM data_points WHERE workspace_id = $1 ORDER BY day',
          [workspaceId],
        );
        for (const { day, points } of found) yield { day, points: Number(points) };
      },

      async *exportUsers(workspaceId): AsyncGenerator<Profile, void> {
        for await (const row of readRows<SentUser>(pool, USERS, [workspaceId])) yield userOf(row).profile!;
      },

      async *exportEvents(workspaceId) {
        for await (const row of readRows<SentEvent>(pool, EVENTS, [workspaceId])) yield eventOf(row);
      },

      async *exportBannerEvents(workspaceId) {
        for await (const row of readRows(pool, BANNER_EVENTS, [workspaceId]))
          yield bannerEventOf(row as never);
      },
    } satisfies Omit<StoreReader, 'close'>,
  };
};
