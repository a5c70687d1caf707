import {
  MAX_BULK_OBJECTS,
  MAX_BULK_OBJECTS_PER_USER,
  MAX_PROFILE_ENTRIES,
  MAX_TRACK_OBJECTS,
  USERS_TRACK_PATH,
} from '../../protocol/index.ts';
import { usersTrackAnswer, usersTrackBulkRequest, usersTrackRequest } from '../../protocol/schemas/index.ts';
import type { Operation } from './operation.ts';
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

const BAD_ENTRIES = `An entry has the wrong shape, or there are more than ${MAX_PROFILE_ENTRIES}.`;

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

/** Of backends, by path. */
export const USER_OPERATIONS: Readonly<Record<string, Operation>> = {
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
    description: `Like \`/users/track\`, with at most ${MAX_BULK_OBJECTS.toLocaleString('en-US')} objects, ${MAX_BULK_OBJECTS_PER_USER} of one user, and 2 MB.`,
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
};
