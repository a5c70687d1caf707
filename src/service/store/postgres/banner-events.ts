import type { Commit, NewBannerEvent } from '../store.ts';
import { NotNowError } from '../write-errors.ts';
import { createBatcher } from './batcher.ts';
import { isRefusal, retryConflicts } from './retry.ts';
import type { Run } from './statement.ts';

const MAX_CALLS = 200;
const LANES = 2;

// A banner is of one eligibility round: dismissing it twice, or late, or another of its round starts no other one.
const RECORD = `WITH sent AS (
    SELECT * FROM json_to_recordset($1::text::json) AS sent(external_user_id text, workspace_id text, banner_id text,
      event_type text, timestamp_ms bigint, app_id text, campaign_id text, variant_id text, placement_id text,
      is_control boolean, is_test_send boolean, timestamp text, received_at_ms bigint, round int)
    ORDER BY 1, 2, 3, 4, 5
  ), fresh AS (
    INSERT INTO banner_events SELECT external_user_id, workspace_id, banner_id, event_type, timestamp_ms, app_id,
      campaign_id, variant_id, placement_id, is_control, is_test_send, timestamp, received_at_ms FROM sent
    ON CONFLICT DO NOTHING RETURNING *
  )
  INSERT INTO dismissals (external_user_id, workspace_id, campaign_id, dismissed_at_ms, banner_id, count)
  SELECT external_user_id, workspace_id, campaign_id, max(least(timestamp_ms, received_at_ms)),
    (array_agg(banner_id ORDER BY timestamp_ms DESC))[1], max(round) + 1
  FROM fresh JOIN (SELECT DISTINCT banner_id, round FROM sent) AS rounds USING (banner_id)
  WHERE event_type = 'dismiss' AND NOT is_test_send GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (external_user_id, workspace_id, campaign_id) DO UPDATE SET
    dismissed_at_ms = greatest(dismissals.dismissed_at_ms, excluded.dismissed_at_ms),
    count = greatest(dismissals.count, excluded.count),
    banner_id = excluded.banner_id`;

interface Waiting {
  rows: Record<string, unknown>[];
  resolve(): void;
  reject(error: unknown): void;
}

const rowOf = (workspaceId: string, event: NewBannerEvent) => ({
  external_user_id: event.externalUserId,
  workspace_id: workspaceId,
  banner_id: event.bannerId,
  event_type: event.eventType,
  timestamp_ms: event.timestampMs,
  app_id: event.appId,
  campaign_id: event.campaignId,
  variant_id: event.variantId,
  placement_id: event.placementId,
  is_control: event.isControl,
  is_test_send: event.isTestSend,
  timestamp: event.timestamp,
  received_at_ms: event.receivedAtMs,
  round: event.round,
});

/** Stores banner events, those of several calls in one statement. */
export const createBannerEventWriter = (run: Run, onBatch: (batch: Commit) => void) => {
  const store = async (calls: Waiting[]): Promise<void> => {
    const rows = JSON.stringify(calls.flatMap((call) => call.rows));
    try {
      await retryConflicts(() => run(RECORD, [rows]));
      for (const { resolve } of calls) resolve();
    } catch (error) {
      if (calls.length > 1 && isRefusal(error)) for (const call of calls) await store([call]);
      else for (const { reject } of calls) reject(error);
    }
  };
  const batcher = createBatcher<Waiting>({
    lanes: LANES,
    most: MAX_CALLS,
    run: store,
    refuse: ({ reject }) => reject(new NotNowError('Other writes come first')),
    onBatch,
  });
  return {
    isRefusing: batcher.isRefusing,
    record: (workspaceId: string, events: NewBannerEvent[]): Promise<void> =>
      new Promise((resolve, reject) => {
        batcher.add({ rows: events.map((event) => rowOf(workspaceId, event)), resolve, reject });
      }),
  };
};
