export { createDelivery } from './create-delivery.ts';
export type { CapturedEvent, DeadLetter, Delivery, Diagnostics, FlushOutcome } from './delivery.ts';
export type { DeliveryOptions, InDoubtPolicy } from './delivery-options.ts';
export { outboxName } from './outbox-name.ts';
export type { DeliverySetup } from './setup.ts';
