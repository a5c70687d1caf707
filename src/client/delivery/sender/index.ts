export { newSending } from './claim.ts';
export { createSender, type Sender } from './create-sender.ts';
export { byTime, planBatches } from './plan-batches.ts';
