import type { BannerEvent } from '../banner.ts';
import type { Notify } from '../notices.ts';
import { deliveryOptions } from '../options/choices.ts';
import { createTabChannel } from '../platform/tab-channel.ts';
import { createCapture } from './capture.ts';
import type { Delivery, DeliveryContext, DeliverySetup, TabNews } from './delivery.ts';
import { createLeaving } from './leaving.ts';
import { createDeadLetters, readDiagnostics } from './log/letters.ts';
import { createLog, type Log } from './log/log.ts';
import { bannerEvent, EVENT_RANGE } from './log/records.ts';
import { createUpkeep, type Upkeep } from './log/upkeep.ts';
import { createSender } from './sender/sender.ts';

const createDeliveryContext = (setup: DeliverySetup): DeliveryContext => {
  const { platform, options, ...shared } = setup;
  const { api, consent, host, isWorker, isStopped } = shared;
  const { clock, random, lifecycle, openChannel } = platform;
  const newId = () => `${clock.now().toString(36)}-${Math.floor(random() * 2 ** 52).toString(36)}`;
  const news = createTabChannel<TabNews>(api.logName, lifecycle, openChannel);

  const notify: Notify = (notice) => {
    host.notify(notice);
    if (isWorker && ('event' in notice || 'events' in notice)) news.post({ type: 'notice', notice });
  };
  news.subscribe((item) => {
    if (item.type === 'notice' && item.notice) host.notify(item.notice);
  });

  return {
    ...platform,
    ...shared,
    tab: newId(),
    newId,
    options: deliveryOptions(options, notify),
    news,
    notify,
    fail: host.fail,
    canSend: () => !isStopped() && !lifecycle.isPrerendering() && consent.maySend(),
  };
};

/** Brings the choice of this page to the log and to the other tabs, and theirs to this page. A full disk refuses no choice. */
const createChoice = ({ consent, news, isWorker }: DeliveryContext, log: Log, upkeep: Upkeep) => {
  const post = (): void => news.post({ type: 'consent', choice: consent.choice() });
  news.subscribe((item) => {
    if (item.type !== 'consent' && item.type !== 'wiped') return;
    const choice = item.type === 'wiped' ? 'wiped' : item.choice;
    if (!choice) return;
    // Nothing is written until `enable()` or a reload; in a service worker an opt-in in any tab counts.
    if (consent.is('wiped') && !(isWorker && choice === 'enabled')) return;
    void consent.set(choice);
    if (choice === 'wiped') log.place.forgetMemory();
  });
  return async (): Promise<void> => {
    // The other tabs need not wait for the disk to stop; but what they find there must not be older than an opt-in.
    if (!consent.mayAct()) post();
    await upkeep.retryOnQuota(log.storeChoice);
    // What was held in memory comes to the disk with the choice.
    await log.place.retry();
    if (consent.mayAct()) post();
  };
};

/**
 * Puts the parts of the delivery together. Capture appends events to the log. The sender claims batches of the log and sends them. A page
 * that leaves sends what no request holds yet. Only this file knows all parts.
 */
export const createDelivery = (setup: DeliverySetup): Delivery => {
  const context = createDeliveryContext(setup);
  const { consent } = context;
  const log = createLog(context);
  const upkeep = createUpkeep(context, log);
  const letters = createDeadLetters(context, log);
  const storeChoice = createChoice(context, log, upkeep);
  const sender = createSender(context, log, upkeep);
  const leaving = createLeaving(context, log, sender);
  const capture = createCapture(context, log, upkeep, leaving, sender);
  // Another choice of the user may lie there.
  log.place.onDisk(() => void log.control().then(() => sender.wake()));
  sender.wake();

  const diagnostics = () => readDiagnostics(context, log);

  return {
    capture,
    async flush() {
      const send = () => (context.canSend() ? sender.run(true) : 0);
      const [sent, left] = await Promise.all([send(), leaving.delivered()]);
      // What the host has corrected goes as well.
      await sender.decided();
      const corrected = await send();
      const { pending, inDoubt } = await diagnostics();
      return { delivered: sent + left + corrected, pending: pending + inDoubt };
    },
    async queued(userId) {
      const found: BannerEvent[] = [];
      for await (const { event } of log.read(EVENT_RANGE)) {
        if (event?.userId === userId) found.push(bannerEvent(event));
      }
      return found;
    },
    diagnostics,
    deadLetters: letters.list,
    async retryDeadLetters(keys) {
      await letters.retry(keys);
      sender.wake();
    },
    discardDeadLetters: letters.discard,
    async mayAct() {
      await log.control();
      return consent.mayAct();
    },
    async disable(policy) {
      await storeChoice();
      if (policy === 'purge') await upkeep.retryOnQuota(upkeep.purge);
      if (policy === 'send') await sender.run(true);
    },
    async enable() {
      await storeChoice();
      sender.onSign();
    },
    stop() {
      context.news.close();
      for (const part of [sender, leaving]) part.stop();
      log.close();
    },
    wipe() {
      context.news.post({ type: 'wiped' });
      return log.place.clear();
    },
  };
};
