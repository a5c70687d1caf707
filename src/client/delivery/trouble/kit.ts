import { readTrackSuccess, USER_TOKEN_HEADER } from '../../../protocol/index.ts';
import { askKey, fingerprint } from '../../credentials/credentials.ts';
import { parseJson } from '../../platform/http.ts';
import { isAhead, isPausing, noPause, withTimeout } from '../../platform/waits.ts';
import { isQuota } from '../log/log-store.ts';
import {
  bannerEvent,
  CONTROL_KEY,
  claimKey,
  EVENT_VALUE,
  getSize,
  isAlone,
  isControlKey,
  isEventKey,
  isLive,
  isNewer,
  isTime,
  isWhole,
  keyText,
  newerVersion,
  readControl,
  readEvent,
  TOTALS,
  toRange,
} from '../log/records.ts';

/**
 * Functions that the deferred chunk passes to the trouble chunk. They are not imported there, because esbuild creates a
 * separate file for a module that two chunks import.
 */
export const kit = {
  askKey,
  bannerEvent,
  getSize,
  CONTROL_KEY,
  claimKey,
  EVENT_VALUE,
  fingerprint,
  isAhead,
  isAlone,
  isControlKey,
  isEventKey,
  isLive,
  isNewer,
  isPausing,
  isQuota,
  isTime,
  isWhole,
  keyText,
  newerVersion,
  noPause,
  parseJson,
  toRange,
  readControl,
  readEvent,
  readTrackSuccess,
  TOTALS,
  USER_TOKEN_HEADER,
  withTimeout,
};

export type Kit = typeof kit;
