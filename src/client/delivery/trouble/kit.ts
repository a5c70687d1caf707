import { readTrackSuccess, USER_TOKEN_HEADER } from '../../../protocol/index.ts';
import { askKey, fingerprint } from '../../credentials/credentials.ts';
import { parseJson } from '../../platform/http.ts';
import { isAhead, isPausing, noPause, withTimeout } from '../../platform/waits.ts';
import { isQuota } from '../log/log-store.ts';
import {
  bannerEvent,
  bytesOf,
  CONTROL_KEY,
  claimKey,
  EVENT_VALUE,
  isAlone,
  isControlKey,
  isEventKey,
  isLive,
  isNewer,
  isTime,
  isWhole,
  keyText,
  newerVersion,
  rangeOf,
  readControl,
  readEvent,
  TOTALS,
} from '../log/records.ts';

/**
 * Functions that the deferred chunk passes to the trouble chunk. They are not imported there, because esbuild creates a
 * separate file for a module that two chunks import.
 */
export const kit = {
  askKey,
  bannerEvent,
  bytesOf,
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
  rangeOf,
  readControl,
  readEvent,
  readTrackSuccess,
  TOTALS,
  USER_TOKEN_HEADER,
  withTimeout,
};

export type Kit = typeof kit;
