import type { BannerEvent } from '../banner.ts';
import { createCapture } from './capture.ts';
import { createDecide, followTabs } from './decide.ts';
import type { Delivery, DeliverySetup } from './delivery.ts';
import { bannerEvent, EVENT_RANGE } from './log/records.ts';
import { createOutbox, type LoadTrouble } from './outbox.ts';
import { createPageExit } from './page-exit.ts';

/**
 * Creates the delivery of a page: an outbox, event capture, and the exit flush, which sends the events that no request holds.
 * `loadTrouble` loads the trouble chunk.
 */
export const createDelivery = (setup: DeliverySetup, loadTrouble: LoadTrouble): Delivery => {
  const outbox = createOutbox(setup, loadTrouble);
  followTabs(outbox);
  const { context, log, sender } = outbox;
  const { consent, trouble } = context;
  const pageExit = createPageExit(outbox);
  const capture = createCapture(outbox, pageExit);
  sender.wake();

  return {
    capture: capture.capture,
    flush: () => outbox.flush(pageExit.delivered()),
    async queued(userId) {
      const found: BannerEvent[] = [];
      for await (const { event } of log.read(EVENT_RANGE)) {
        if (event?.userId === userId) found.push(bannerEvent(event));
      }
      return found;
    },
    diagnostics: outbox.diagnostics,
    deadLetters: async () => (await trouble()).deadLetters.list(),
    async retryDeadLetters(keys) {
      await (await trouble()).deadLetters.retry(keys);
      sender.wake();
    },
    discardDeadLetters: async (keys) => (await trouble()).deadLetters.discard(keys),
    async mayAct() {
      await log.control();
      return consent.mayAct();
    },
    decide: createDecide(outbox, capture),
    stop() {
      context.tabs.close();
      for (const part of [sender, pageExit]) part.stop();
      log.close();
    },
  };
};
