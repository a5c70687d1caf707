export { createDeadLetters, toDeadLetter } from './dead-letters.ts';
export { readDiagnostics } from './diagnostics.ts';
export { createLog, type Entry, type Log } from './log.ts';
export {
  type Batch,
  bannerEvent,
  batchKey,
  batchState,
  type Control,
  EVENT_RANGE,
  type EventKey,
  isInSending,
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
