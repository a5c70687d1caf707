export { createSender, type Sender } from './create-sender.ts';
export { answerUntil, isOthers } from './lease-next.ts';
export { byTime, newBatch, planBatches } from './plan-batches.ts';
