export { createDeadLetters, toDeadLetter } from './dead-letters.ts';
export { readDiagnostics } from './diagnostics.ts';
export { createLog, type Entry, type Log } from './log.ts';
export { isQuota } from './log-store.ts';
export {
  bannerEvent,
  type Claim,
  type Control,
  claimKey,
  EVENT_RANGE,
  type EventKey,
  isAlone,
  isClaim,
  isLive,
  isTime,
  isWhole,
  keyText,
  noWait,
  type QueuedEvent,
  readEvent,
  type StoredEvent,
  VERSION,
  type Wait,
  type Writes,
} from './records.ts';
export { createUpkeep, EVENT_VALUE, type Upkeep } from './upkeep.ts';
