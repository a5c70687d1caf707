import * as z from 'zod';
import {
  EXPLAIN_PATH,
  INTEGRATIONS_PATH,
  MAX_BULK_OBJECTS,
  MAX_BULK_OBJECTS_PER_USER,
  MAX_PLACEMENTS,
  MAX_PROFILE_ENTRIES,
  MAX_TRACK_EVENTS,
  MAX_TRACK_OBJECTS,
  MAX_USER_TOKEN_CHARACTERS,
  PREVIEW_PATH,
  SYNC_PATH,
  TRACK_PATH,
  USERS_TRACK_PATH,
  VISITOR_JOIN_PATH,
} from '../../protocol/index.ts';
import {
  bannersTrackAnswer,
  bannersTrackRequest,
  explainAnswer,
  explainRequest,
  integration,
  previewAnswer,
  previewRequest,
  syncAnswer,
  syncRequest,
  usersTrackAnswer,
  usersTrackBulkRequest,
  usersTrackRequest,
} from '../../protocol/schemas/index.ts';
import {
  aliasNewAnswer,
  aliasNewRequest,
  deleteAnswer,
  deleteRequest,
  exportIdsAnswer,
  exportIdsRequest,
  identifyAnswer,
  identifyRequest,
  mergeAnswer,
  mergeRequest,
} from './profile-schemas.ts';

/** What the description of the API adds to a route. */
export interface Operation {
  id: string;
  tag: 'Banners' | 'Users' | 'Campaigns' | 'Integrations';
  summary: string;
  description: string;
  request?: z.core.$ZodType;
  example?: unknown;
  /** Status of success, and what its body is. */
  success: number;
  answer: z.core.$ZodType;
  /** What a 400 means here. */
  badRequest: string;
  /** Whether it stores anything. */
  writes?: true;
  /** What a 404 means here, where the path itself is right. */
  notFound?: string;
}

const count = (most: number) => most.toLocaleString('en-US');
const BAD_ENTRIES = `An entry has the wrong shape, or there are more than ${MAX_PROFILE_ENTRIES}.`;

const envelope = {
  external_user_id: 'u-771',
  app_id: '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a',
  app_version: '4.2.0',
};

/** Ours: other servers ignore it. */
const userToken = z
  .string()
  .max(MAX_USER_TOKEN_CHARACTERS)
  .optional()
  .describe("Proof of the user, where the app takes it: a JWT that the host's backend signs.");

/** Every member is text on our wire; the schema that clients read with accepts more. */
const integrationsAnswer = z.object({
  results: z.array(
    z.object(Object.fromEntries(Object.keys(integration.shape).map((name) => [name, z.string()]))),
  ),
  message: z.string(),
});

const track = {
  tag: 'Users' as const,
  example: {
    attributes: [{ external_id: 'u-771', tier: 'gold', visits: { inc: 1 } }],
    events: [
      { external_id: 'u-771', name: 'quiz_done', time: '2026-03-01T09:15:00.000Z', properties: { score: 8 } },
    ],
    purchases: [
      {
        external_id: 'u-771',
        product_id: 'teapot',
        currency: 'EUR',
        price: 42.5,
        time: '2026-03-01T09:16:00.000Z',
      },
    ],
  },
  success: 201,
  answer: usersTrackAnswer,
  writes: true as const,
  badRequest: 'No object was valid, there were too many, or the body is no JSON.',
};

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
  [USERS_TRACK_PATH]: {
    id: 'trackUsers',
    summary: 'Record attributes, events and purchases',
    description: `At most ${MAX_TRACK_OBJECTS} objects over all arrays. \`errors\` says what is wrong with single objects, by array and index; the others are stored. Attributes are applied first, then events, then purchases.`,
    request: usersTrackRequest,
    ...track,
  },
  '/users/track/bulk': {
    id: 'trackUsersInBulk',
    summary: 'Record many attributes, events and purchases',
    description: `Like \`/users/track\`, with at most ${count(MAX_BULK_OBJECTS)} objects, ${MAX_BULK_OBJECTS_PER_USER} of one user, and 2 MB.`,
    request: usersTrackBulkRequest,
    ...track,
  },
  '/users/identify': {
    id: 'identifyUsers',
    tag: 'Users',
    summary: 'Identify alias-only, email-only and phone-only users',
    description: 'Succeeds also where it finds no such user.',
    request: identifyRequest,
    example: {
      aliases_to_identify: [
        { external_id: 'u-771', user_alias: { alias_name: 'crm-90', alias_label: 'crm' } },
      ],
    },
    success: 201,
    answer: identifyAnswer,
    writes: true,
    badRequest: BAD_ENTRIES,
  },
  '/users/merge': {
    id: 'mergeUsers',
    tag: 'Users',
    summary: 'Merge one user into another',
    description: 'What the kept user lacks is taken over, counts are added up, the merged user is removed.',
    request: mergeRequest,
    example: {
      merge_updates: [
        { identifier_to_merge: { external_id: 'u-770' }, identifier_to_keep: { external_id: 'u-771' } },
      ],
    },
    success: 202,
    answer: mergeAnswer,
    writes: true,
    badRequest: BAD_ENTRIES,
  },
  '/users/alias/new': {
    id: 'addAliases',
    tag: 'Users',
    summary: 'Give users an alias',
    description: 'Without `external_id` an alias-only user is made.',
    request: aliasNewRequest,
    example: { user_aliases: [{ external_id: 'u-771', alias_name: 'crm-90', alias_label: 'crm' }] },
    success: 201,
    answer: aliasNewAnswer,
    writes: true,
    badRequest: BAD_ENTRIES,
  },
  '/users/delete': {
    id: 'deleteUsers',
    tag: 'Users',
    summary: 'Erase users with everything that is stored of them',
    description:
      'Takes exactly one of the five lists. Cannot be undone. An address that several users share needs `prioritization`, without `least_recently_updated`.',
    request: deleteRequest,
    example: { external_ids: ['u-771'] },
    success: 201,
    answer: deleteAnswer,
    writes: true,
    badRequest: 'No list was sent, several were, or an entry is not valid. Nothing was deleted.',
  },
  '/users/export/ids': {
    id: 'exportUsers',
    tag: 'Users',
    summary: 'Read users back',
    description: 'Returns everything that is stored of these users, or the fields requested.',
    request: exportIdsRequest,
    example: { external_ids: ['u-771'], fields_to_export: ['external_id', 'custom_attributes'] },
    success: 201,
    answer: exportIdsAnswer,
    badRequest: 'No user was named, or in the wrong way.',
  },
  [SYNC_PATH]: {
    id: 'syncBanners',
    tag: 'Banners',
    summary: 'Ask which banner each placement has for a user',
    description: `Returns a banner or \`null\` for each of the first ${MAX_PLACEMENTS} different placements. Eligibility and texts are decided anew each time.`,
    request: z.object({ ...syncRequest.shape, user_token: userToken }),
    example: { ...envelope, placements: ['home_hero'] },
    success: 200,
    answer: syncAnswer,
    badRequest: 'A member is missing or not valid, or the body is no JSON or too large.',
    notFound: 'Banners are not enabled in this workspace.',
  },
  [TRACK_PATH]: {
    id: 'trackBanners',
    tag: 'Banners',
    summary: 'Record impressions, clicks and dismissals of banners',
    description: `Each event is judged alone; those that were skipped are named in \`errors\` by their index. Repeats of the same user, banner, type and instant are counted and stored once. An \`id\` is one that a sync returned for this user. At most ${count(MAX_TRACK_EVENTS)} events.`,
    request: z.object({ ...bannersTrackRequest.shape, user_token: userToken }),
    example: {
      ...envelope,
      events: [
        {
          id: 'bnr_kP2d0Qm5yB7hJ0h3xw',
          event_type: 'impression',
          timestamp: '2026-03-01T09:20:01.250Z',
        },
      ],
    },
    success: 202,
    answer: bannersTrackAnswer,
    writes: true,
    badRequest: 'A member is missing or not valid, no event was valid, or the body is no JSON or too large.',
    notFound: 'Banners are not enabled in this workspace.',
  },
  [VISITOR_JOIN_PATH]: {
    id: 'joinVisitor',
    tag: 'Banners',
    summary: 'Join a visitor without an account with the user who has signed in',
    description:
      'What the service knows of the visitor becomes the user’s, by the rules of `/users/identify`. The user token proves the user, and the random ID the visitor. The same again changes nothing.',
    request: z.object({
      external_user_id: z.string().min(1),
      app_id: z.string().min(1),
      app_version: z.string().min(1),
      visitor_id: z.string().describe('`placard-visitor-` and a random UUID.'),
      user_token: userToken,
    }),
    example: { ...envelope, visitor_id: 'placard-visitor-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed' },
    success: 200,
    answer: z.object({ message: z.string() }),
    writes: true,
    badRequest: 'A member is missing or not valid.',
    notFound: 'Banners are not enabled in this workspace.',
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
  [PREVIEW_PATH]: {
    id: 'preview',
    tag: 'Banners',
    summary: 'Show a draft on the site',
    description:
      'Answers the draft that a preview link of the Studio names, as its persona would get it, in every placement it is for. 401 for a link that is not of this workspace or has expired, 404 once the draft has changed. Each banner is a test send.',
    request: previewRequest,
    example: { token: 'eyJhbGciOiJIUzI1NiJ9…' },
    success: 200,
    answer: previewAnswer,
    badRequest: 'The token is missing.',
    notFound: 'The draft has changed since the link was made.',
  },
};
