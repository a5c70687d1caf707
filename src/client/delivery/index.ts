export { createDelivery } from './create-delivery.ts';
export type {
  CapturedEvent,
  Correct,
  DeadLetter,
  Delivery,
  DeliverySetup,
  Diagnostics,
  FlushOutcome,
  Skip,
} from './delivery.ts';
export type { DeliveryChoices, DeliveryOptions, InDoubtPolicy } from './delivery-options.ts';
export { handOffMessages } from './leaving/index.ts';
