import * as z from 'zod';
import { EXPLAIN_PATH, INTEGRATIONS_PATH } from '../../protocol/index.ts';
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
