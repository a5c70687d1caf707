import type { BannerEvent } from '../banner.ts';
import type { Decision } from '../consent/consent.ts';
import { isUnavailable, loadOnce } from '../load-once.ts';
import type { Notify } from '../notices.ts';
import { deliveryOptions } from '../options/choices.ts';
import { createTabChannel } from '../platform/tab-channel.ts';
import { type Capture, createCapture } from './capture.ts';
import type { Delivery, DeliveryContext, DeliverySetup, TabNews, Trouble } from './delivery.ts';
import { createLeaving } from './leaving.ts';
import { createLog, type Log } from './log/log.ts';
import { bannerEvent, EVENT_RANGE, isNewer, rangeOf } from './log/records.ts';
import { createUpkeep, type Upkeep } from './log/upkeep.ts';
import { createSender, type Sender } from './sender/sender.ts';
import { createDeliver } from './sender/settle.ts';
import { kit } from './trouble/kit.ts';
import type { createTrouble } from './trouble/trouble.ts';

const createDeliveryContext = (
  setup: DeliverySetup,
  loadTrouble: () => Promise<Trouble>,
): DeliveryContext => {
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

  let loaded: Trouble | undefined;

  return {
    ...platform,
    ...shared,
    trouble: loadOnce(async () => {
      loaded = await loadTrouble();
      return loaded;
    }, host.fail),
    loaded: () => loaded,
    tab: newId(),
    newId,
    options: deliveryOptions(options, notify),
    news,
    notify,
    fail: host.fail,
    canSend: () => !isStopped() && !lifecycle.isPrerendering() && consent.maySend(),
  };
};

/** Brings the decisions of this page to the log and to the other tabs, and the choices of the others to this page. */
const createDecide = (
  { consent, news, isWorker, trouble }: DeliveryContext,
  log: Log,
  upkeep: Upkeep,
  capture: Capture,
  sender: Sender,
) => {
  news.subscribe((item) => {
    if (item.type !== 'consent' || !Number.isFinite(item.chosenAt)) return;
    const wasWiped = consent.is('wiped');
    // A service worker has no host that could enable it again.
    if (isWorker && wasWiped && item.consent === 'enabled') void consent.decide('enable');
    else void consent.hear(item);
    if (!wasWiped && consent.is('wiped')) log.place.forgetMemory();
  });

  const purge = async (until: number): Promise<void> => {
    try {
      const { purge } = await trouble();
      await upkeep.retryOnQuota(() => purge(until));
    } catch (cause) {
      if (!isUnavailable(cause)) throw cause;
      // The user's choice does not wait for a chunk. These are not counted as purged.
      log.place.owePurge();
      await log.forgetClaims();
      for (const kind of ['event', 'dead']) {
        const found = await log.place.entries(rangeOf(kind));
        const own = found.filter(([key, record]) => !isNewer(record) && !(Number([key].flat()[2]) > until));
        await log.place.deleteMany(own.map(([key]) => key));
      }
      await log.forgetCounted(until);
    }
  };

  return async (decision: Decision, isDiskDone = false): Promise<void> => {
    const record = consent.record();
    const isOptIn = decision === 'enable';
    const isForgetting = decision === 'wipe' || decision === 'purge';
    const isWipe = decision === 'wipe' && !isDiskDone;
    const isPurge = decision === 'purge' && !isDiskDone;
    const post = () =>
      news.post({ type: 'consent', ...record, ...(isWipe && { consent: 'wiped' as const }) });
    // The other tabs need not wait for the disk to stop. Of an opt-in they hear once it is stored, and only then.
    if (!isOptIn) post();
    // In the order of the calls: a purge takes nothing that is captured after an opt-in behind it, here or in another tab.
    const carryOut = async () => {
      if (isWipe) return log.place.clear();
      // A full disk refuses no choice.
      const isStored = await upkeep.retryOnQuota(() => log.storeChoice(record));
      // What was held in memory comes to the disk with the choice.
      await log.place.retry();
      // What was captured after a later opt-in of another tab stays.
      const purgedUntil = isStored ? Infinity : record.chosenAt;
      if (isPurge) await purge(purgedUntil);
      // The user may have taken it back here.
      if (isOptIn && isStored && consent.mayAct()) post();
    };
    await capture.inTurn(carryOut, isForgetting);
    if (decision === 'send') await sender.run(true);
    if (isOptIn) sender.onSign();
  };
};

/**
 * Puts the parts of the delivery together. Capture appends events to the log. The sender claims batches of the log and sends them. A page
 * that leaves sends what no request holds yet. Only this file knows all parts. `loadTrouble` loads what an ordinary visit does not need.
 */
export const createDelivery = (
  setup: DeliverySetup,
  loadTrouble: () => Promise<{ createTrouble: typeof createTrouble }>,
): Delivery => {
  const context = createDeliveryContext(setup, async () => {
    const { createTrouble } = await loadTrouble();
    return createTrouble({ kit, context, log, caps: upkeep.caps, deliver });
  });
  const { consent, trouble } = context;
  const log = createLog(context);
  const upkeep = createUpkeep(context, log);
  const deliver = createDeliver(context);
  const sender = createSender(context, log, upkeep, deliver);
  const leaving = createLeaving(context, log, sender);
  const capture = createCapture(context, log, upkeep, leaving, sender);
  const decide = createDecide(context, log, upkeep, capture, sender);
  // Another choice of the user may lie there.
  log.place.onDisk(() => void log.control().then(() => sender.wake()));
  sender.wake();

  return {
    capture: capture.capture,
    async flush() {
      const send = () => (context.canSend() ? sender.run(true) : 0);
      const [sent, left] = await Promise.all([send(), leaving.delivered()]);
      // What the host has corrected goes as well.
      await context.loaded()?.correction.decided();
      const corrected = await send();
      let pending = 0;
      for await (const _ of log.read(EVENT_RANGE)) pending += 1;
      return { delivered: sent + left + corrected, pending };
    },
    async queued(userId) {
      const found: BannerEvent[] = [];
      for await (const { event } of log.read(EVENT_RANGE)) {
        if (event?.userId === userId) found.push(bannerEvent(event));
      }
      return found;
    },
    diagnostics: async () => (await trouble()).diagnostics(),
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
    decide,
    stop() {
      context.news.close();
      for (const part of [sender, leaving]) part.stop();
      log.close();
    },
  };
};
