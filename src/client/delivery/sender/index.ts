export { createSender, type Sender } from './create-sender.ts';
export { answerUntil, isOthers } from './lease-next.ts';
export { byTime, newBatch, planBatches, sameGroupBy } from './plan-batches.ts';
