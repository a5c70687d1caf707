import { readSyncRequest } from '../../protocol/index.ts';
import type { Question } from '../campaigns/decide.ts';
import { HttpError } from '../http/exchange.ts';
import type { Workspace } from '../workspace/workspace.ts';

type Requested = Pick<Question, 'externalUserId' | 'appId' | 'appVersion' | 'placementIds' | 'deviceId'>;

/** The question of a sync's body. Throws a 400 where a member is missing or not valid. */
export const questionOf = (body: unknown, { appIds }: Workspace): Requested => {
  const request = readSyncRequest(body, (appId) => appIds.has(appId));
  if (typeof request === 'string') throw new HttpError(400, request);
  return {
    externalUserId: request.external_user_id,
    appId: request.app_id,
    appVersion: request.app_version,
    placementIds: request.placements,
    deviceId: request.device_id,
  };
};
