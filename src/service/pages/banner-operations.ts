import * as z from 'zod';
import {
  MAX_PLACEMENTS,
  MAX_TRACK_EVENTS,
  MAX_USER_TOKEN_CHARACTERS,
  PREVIEW_PATH,
  SYNC_PATH,
  TRACK_PATH,
  VISITOR_JOIN_PATH,
} from '../../protocol/index.ts';
import {
  bannersTrackAnswer,
  bannersTrackRequest,
  previewAnswer,
  previewRequest,
  syncAnswer,
  syncRequest,
} from '../../protocol/schemas/index.ts';
import type { Operation } from './operation.ts';

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

/** Of apps, by path. */
export const BANNER_OPERATIONS: Readonly<Record<string, Operation>> = {
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
    description: `Each event is judged alone; those that were skipped are named in \`errors\` by their index. Repeats of the same user, banner, type and instant are counted and stored once. An \`id\` is one that a sync returned for this user. At most ${MAX_TRACK_EVENTS.toLocaleString('en-US')} events.`,
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
