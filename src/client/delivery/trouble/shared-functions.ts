import { readTrackSuccess, USER_TOKEN_HEADER } from '../../../protocol/index.ts';
import { parseJson } from '../../platform/http.ts';
import { isPaused, isPendingDeadline, noPause, withTimeout } from '../../platform/pauses.ts';
import { isQuotaError } from '../log/log-store.ts';
import {
  bannerEvent,
  CONTROL_KEY,
  claimKey,
  estimateBytes,
  eventValue,
  formatKey,
  hasRequiredFields,
  isControlKey,
  isCorrupt,
  isEventKey,
  isExclusive,
  isLive,
  isNewer,
  readControl,
  readEvent,
  TOTALS,
  toRange,
} from '../log/records.ts';

/**
 * Functions and constants that the deferred chunk passes to the trouble chunk. They are not imported there, because esbuild creates a
 * separate file for a module that two chunks import.
 */
export const sharedFunctions = {
  bannerEvent,
  estimateBytes,
  CONTROL_KEY,
  claimKey,
  eventValue,
  isPendingDeadline,
  isExclusive,
  isControlKey,
  isCorrupt,
  isEventKey,
  isLive,
  isNewer,
  isPaused,
  isQuotaError,
  hasRequiredFields,
  formatKey,
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

export type SharedFunctions = typeof sharedFunctions;
