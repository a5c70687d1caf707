export { type Control, noWait, type Total, type Wait, type WaitReason } from './control.ts';
export { createDeadLetters } from './dead-letters.ts';
export { readDiagnostics } from './diagnostics.ts';
export { createLog, type Entry, type Log } from './log.ts';
export { createRetryOnQuota, type RetryOnQuota } from './make-room.ts';
export {
  type Batch,
  bannerEvent,
  batchKey,
  bytesOf,
  type DeadRecord,
  deadKey,
  EVENT_RANGE,
  type EventKey,
  isBatch,
  isCorrupt,
  isNewer,
  isTime,
  isWhole,
  type Kept,
  keyText,
  readEvent,
  type StoredEvent,
  VERSION,
  type Writes,
} from './records.ts';
export { createUpkeep, EVENT_VALUE, type Upkeep } from './upkeep.ts';
