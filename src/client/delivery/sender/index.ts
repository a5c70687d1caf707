export { createSender, isOnline, type Sender } from './create-sender.ts';
export { asSent, isOthers } from './lease-next.ts';
export { byTime, newBatch, planBatches, sameGroupBy } from './plan-batches.ts';
export type { SenderQueue } from './send-batch.ts';
