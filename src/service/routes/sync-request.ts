import {
  fitsBytes,
  isPresent,
  isStorableText,
  MAX_BANNER_DEVICE_ID_BYTES,
  MAX_PLACEMENTS,
} from '../../protocol/index.ts';
import type { Question } from '../campaigns/question.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { envelopeOf, invalid, type Members, missing } from './banner-envelope.ts';

/** The first ten different ones; the others are left out of the answer. */
const placementsOf = ({ placements }: Members): string[] => {
  if (placements === undefined || placements === null) throw missing('placements');
  if (!Array.isArray(placements) || placements.length === 0) throw invalid('placements');
  const sound = placements.every(
    (placement): placement is string =>
      typeof placement === 'string' && placement !== '' && isStorableText(placement),
  );
  if (!sound) throw invalid('placements');
  return [...new Set<string>(placements)].slice(0, MAX_PLACEMENTS);
};

/** Absent, `null` and empty are the same: no device is known. */
const deviceOf = ({ device_id }: Members): string | undefined => {
  if (!isPresent(device_id)) return undefined;
  if (typeof device_id !== 'string' || !isStorableText(device_id)) throw invalid('device_id');
  if (!fitsBytes(device_id, MAX_BANNER_DEVICE_ID_BYTES)) throw invalid('device_id');
  return device_id;
};

type Asked = Pick<Question, 'externalUserId' | 'appId' | 'appVersion' | 'placementIds' | 'deviceId'>;

/** What the body of a sync asks. Throws a 400 where a member is missing or not valid. */
export const readSyncRequest = (members: Members, workspace: Workspace): Asked => {
  const { external_user_id, app_id, app_version } = envelopeOf(members, workspace);
  return {
    externalUserId: external_user_id,
    appId: app_id,
    appVersion: app_version,
    placementIds: placementsOf(members),
    deviceId: deviceOf(members),
  };
};
