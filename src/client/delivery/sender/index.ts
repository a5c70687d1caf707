export { createSender, type Sender } from './create-sender.ts';
export { isOthers } from './find-next.ts';
export { answerUntil } from './lease.ts';
export { byTime, newBatch, planBatches } from './plan-batches.ts';
