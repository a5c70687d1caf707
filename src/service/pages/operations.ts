import * as z from 'zod';
import {
  EXPLAIN_PATH,
  INTEGRATION_SYNC_PATH,
  INTEGRATIONS_PATH,
  JOB_SYNC_STATUS_PATH,
} from '../../protocol/index.ts';
import { explainAnswer, explainRequest, integration } from '../../protocol/schemas/index.ts';
import { BANNER_OPERATIONS } from './banner-operations.ts';
import type { Operation } from './operation.ts';
import { USER_OPERATIONS } from './user-operations.ts';

/** Every member is text on our wire; the schema that clients read with accepts more. */
const integrationsAnswer = z.object({
  results: z.array(
    z.object(Object.fromEntries(Object.keys(integration.shape).map((name) => [name, z.string()]))),
  ),
  message: z.string(),
});

const runsAnswer = z.object({
  results: z.array(
    z.object({
      job_status: z.string(),
      sync_start_time: z.string(),
      sync_finish_time: z.string(),
      last_timestamp_synced: z.string(),
      rows_synced: z.int(),
      rows_failed_with_errors: z.int(),
    }),
  ),
  message: z.string(),
});

/** By path. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  [INTEGRATIONS_PATH]: {
    id: 'listIntegrations',
    tag: 'Integrations',
    summary: 'List data-ingestion integrations',
    description: 'Ten a page. The `Link` header holds the relative addresses of the pages before and after.',
    success: 200,
    answer: integrationsAnswer,
    badRequest: 'The cursor does not come from a `Link` header of this endpoint.',
    notFound: 'Data ingestion is not set up in this workspace.',
  },
  [INTEGRATION_SYNC_PATH]: {
    id: 'syncIntegration',
    tag: 'Integrations',
    summary: 'Run an integration now',
    description:
      'Queues a run, which begins within a second; `job_sync_status` says how it goes. While one is queued or under way the answer is 429 `Another job is in progress`, with `Retry-After` as long as the last run took.',
    success: 202,
    answer: z.object({ message: z.string() }),
    notFound: 'There is no such integration, or it has no source, or its schedule is `never`.',
    writes: true,
  },
  [JOB_SYNC_STATUS_PATH]: {
    id: 'listJobSyncStatus',
    tag: 'Integrations',
    summary: 'List the runs of an integration',
    description:
      'Newest first, ten a page. The `Link` header holds the relative addresses of the pages before and after.',
    success: 200,
    answer: runsAnswer,
    badRequest: 'The cursor does not come from a `Link` header of this endpoint.',
    notFound: 'There is no such integration.',
  },
  [EXPLAIN_PATH]: {
    id: 'explain',
    tag: 'Campaigns',
    summary: 'Ask why a user gets what they get',
    description:
      'Decides as a sync does, and names every campaign of each placement, in the order in which they are considered, with the first reason it was passed over. Stores nothing. The answer holds what is known of the user, and drafts.',
    request: explainRequest,
    example: { external_user_id: 'u-771', placements: ['home_hero'] },
    success: 200,
    answer: explainAnswer,
    badRequest: 'A member is missing or not valid.',
  },
  ...USER_OPERATIONS,
  ...BANNER_OPERATIONS,
};
