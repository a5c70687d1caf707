import type { BannerEvent } from '../banner.ts';
import type { Notify } from '../notices.ts';
import { deliveryOptions } from '../options/option-schema.ts';
import { createTabChannel } from '../platform/page.ts';
import { createApplyDecision, followTabs } from './apply-decision.ts';
import { createCapture } from './capture.ts';
import type { Delivery, DeliveryContext, DeliverySetup, TabMessage } from './delivery.ts';
import { createLog } from './log/log.ts';
import { bannerEvent, EVENT_RANGE, newId } from './log/records.ts';
import { createPageExit } from './page-exit.ts';
import { createSender, type Outbox } from './sender/sender.ts';
import { sharedFunctions } from './trouble/shared-functions.ts';
import type { createTrouble } from './trouble/trouble.ts';
import type { createWorkerHandoff } from './worker-handoff.ts';

/**
 * Opens the outbox of an app. `loadTrouble` loads the trouble chunk. A service worker needs nothing else; a page uses
 * `createDelivery`.
 */
export const createOutbox = (
  setup: DeliverySetup,
  loadTrouble: () => Promise<{ createTrouble: typeof createTrouble }>,
): Outbox => {
  const { clock, random, lifecycle, openChannel, isWorker, notify } = setup;
  const channel = createTabChannel<TabMessage>(setup.logName, lifecycle, openChannel);
  channel.subscribe((item) => {
    if (item.type === 'notice' && item.notice) notify(item.notice);
  });
  /** A service worker has no host, so the pages pass its notices about events on. */
  const notifyPages: Notify = (notice) => {
    notify(notice);
    if ('event' in notice || 'events' in notice) channel.post({ type: 'notice', notice });
  };
  const context: DeliveryContext = {
    ...setup,
    pageId: newId(clock, random),
    options: deliveryOptions(setup.delivery, setup.onInvalidOption),
    channel,
    notify: isWorker ? notifyPages : notify,
    loadedTrouble: undefined,
    async trouble() {
      // Without another import once it is loaded, because an import takes a task, which an exiting page may not get.
      if (context.loadedTrouble) return context.loadedTrouble;
      const { createTrouble } = await loadTrouble();
      context.loadedTrouble ??= createTrouble({ shared: sharedFunctions, context, log });
      return context.loadedTrouble;
    },
  };
  const log = createLog(context);
  const sender = createSender(context, log);
  context.permission.subscribe((before) => {
    // If the first choice is an opt-out, the events in memory are discarded.
    if (before === 'pending' && !context.permission.mayAct()) log.store.clearMemory();
    if (context.permission.maySend()) return;
    log.cache.clearUnsent();
    sender.requests.abortAll();
  });
  // The disk may contain another choice of the user.
  log.store.onDisk(() => void log.state().then(() => sender.wake()));
  const send = () => (context.permission.canSend() ? sender.run(true) : 0);

  return {
    context,
    log,
    sender,
    async flush(others = Promise.resolve(0)) {
      const [sent, flushed] = await Promise.all([send(), others]);
      // Corrected events are sent as well.
      await context.loadedTrouble?.correction.settled();
      const corrected = await send();
      let pending = 0;
      for await (const _ of log.read(EVENT_RANGE)) pending += 1;
      return { delivered: sent + flushed + corrected, pending };
    },
    diagnostics: async () => (await context.trouble()).diagnostics(),
  };
};

/** Part of the trouble chunk that the delivery of a page needs. */
export interface TroubleChunk {
  createTrouble: typeof createTrouble;
  createWorkerHandoff: typeof createWorkerHandoff;
}

/**
 * Creates the delivery of a page: an outbox, event capture, and the exit flush, which sends the events that no request holds.
 * `loadTrouble` loads the trouble chunk.
 */
export const createDelivery = (setup: DeliverySetup, loadTrouble: () => Promise<TroubleChunk>): Delivery => {
  const outbox = createOutbox(setup, loadTrouble);
  followTabs(outbox);
  const { context, log, sender } = outbox;
  const { permission, trouble } = context;
  const pageExit = createPageExit(outbox, loadTrouble);
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
    async readConsent() {
      await log.state();
      return permission.mayAct();
    },
    applyDecision: createApplyDecision(outbox, capture),
    stop() {
      context.channel.close();
      for (const part of [sender, pageExit]) part.stop();
      log.close();
    },
  };
};
