import { readTrackSuccess, USER_TOKEN_HEADER } from '../../../protocol/index.ts';
import { parseJson } from '../../platform/http.ts';
import { isPaused, isPendingDeadline, noPause, withTimeout } from '../../platform/pauses.ts';
import { isQuotaError } from '../log/log-store.ts';
import {
  bannerEvent,
  claimKey,
  estimateBytes,
  eventValue,
  formatKey,
  hasRequiredFields,
  isCorrupt,
  isEventKey,
  isExclusive,
  isLive,
  isLogStateKey,
  isNewer,
  LOG_STATE_KEY,
  readEvent,
  readLogState,
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
  LOG_STATE_KEY,
  claimKey,
  eventValue,
  isPendingDeadline,
  isExclusive,
  isLogStateKey,
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
  readLogState,
  readEvent,
  readTrackSuccess,
  TOTALS,
  USER_TOKEN_HEADER,
  withTimeout,
};

export type SharedFunctions = typeof sharedFunctions;
