import { readEnvelope } from './banner-envelope.ts';
import type { SyncRequest } from './banners-sync.ts';
import { FATAL, notValid, required } from './error-codes.ts';
import { MAX_BANNER_DEVICE_ID_BYTES, MAX_PLACEMENT_ID_CHARACTERS, MAX_PLACEMENTS } from './limits.ts';
import { isPresent, isRecord } from './record.ts';
import { fitsBytes, fitsCharacters, isStorableText } from './text.ts';

const isPlacementId = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  fitsCharacters(value, MAX_PLACEMENT_ID_CHARACTERS) &&
  isStorableText(value);

const isDeviceId = (value: unknown): value is string =>
  typeof value === 'string' && isStorableText(value) && fitsBytes(value, MAX_BANNER_DEVICE_ID_BYTES);

/**
 * The body of `banners/sync`, or the text of the 400 with which it is refused. Of the placements, the first ten different
 * ones: no others are answered.
 */
export const readSyncRequest = (body: unknown, isApp: (appId: string) => boolean): SyncRequest | string => {
  if (!isRecord(body)) return FATAL.notAnObject;
  const envelope = readEnvelope(body, isApp);
  if (typeof envelope === 'string') return envelope;
  const { placements, device_id } = body;
  if (placements === undefined || placements === null) return required('placements');
  if (!Array.isArray(placements) || placements.length === 0 || !placements.every(isPlacementId)) {
    return notValid('placements');
  }
  const answered = [...new Set<string>(placements)].slice(0, MAX_PLACEMENTS);
  // Absent, `null` and empty are the same: no device is known.
  if (!isPresent(device_id)) return { ...envelope, placements: answered };
  return isDeviceId(device_id) ? { ...envelope, placements: answered, device_id } : notValid('device_id');
};
