import {
  MAX_BULK_BODY_BYTES,
  MAX_BULK_OBJECTS,
  MAX_BULK_OBJECTS_PER_USER,
  MAX_USERS_TRACK_VALUES,
} from '../../protocol/index.ts';
import type { Route } from '../route.ts';
import { recordTrack } from '../users/record-track.ts';
import { trackUsers } from '../users/track.ts';

export const usersTrackBulk: Route = {
  method: 'POST',
  path: '/users/track/bulk',
  permission: 'users.track.bulk',
  errors: 'general',
  rate: 'users-track',
  limit: 'users_track_bulk',
  maxBodyBytes: MAX_BULK_BODY_BYTES,
  maxValues: MAX_USERS_TRACK_VALUES,
  tooLarge: 400,
  async answer({ workspace, store, body, now, metrics }) {
    const answer = await recordTrack(
      metrics,
      trackUsers({
        workspace,
        store,
        body,
        nowMs: now,
        limit: { max: MAX_BULK_OBJECTS, counting: 'combined', maxPerUser: MAX_BULK_OBJECTS_PER_USER },
      }),
    );
    return { status: 201, body: answer };
  },
};
