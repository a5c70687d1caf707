import {
  MAX_BODY_BYTES,
  MAX_TRACK_OBJECTS,
  MAX_USERS_TRACK_VALUES,
  USERS_TRACK_PATH,
} from '../../protocol/index.ts';
import type { Route } from '../route.ts';
import { recordTrack } from '../users/record-track.ts';
import { trackUsers } from '../users/track.ts';

export const usersTrack: Route = {
  method: 'POST',
  path: USERS_TRACK_PATH,
  permission: 'users.track',
  errors: 'general',
  rate: 'users-track',
  limit: 'users_track',
  maxBodyBytes: MAX_BODY_BYTES,
  maxValues: MAX_USERS_TRACK_VALUES,
  tooLarge: 413,
  async answer({ workspace, store, body, now, metrics }) {
    const answer = await recordTrack(
      metrics,
      trackUsers({
        workspace,
        store,
        body,
        nowMs: now,
        limit: { max: MAX_TRACK_OBJECTS, counting: workspace.trackObjects },
      }),
    );
    return { status: 201, body: answer };
  },
};
