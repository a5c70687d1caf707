import type { Notify } from '../notice.ts';
import { isAhead, LONGEST_WAIT_MS } from '../platform/deadline.ts';
import { createFallbackStore } from '../platform/fallback-store.ts';
import { createKeyring } from '../platform/keyring.ts';
import { createPageLifecycle } from '../platform/page-lifecycle.ts';
import { createRestingStore } from '../platform/resting-store.ts';
import { createTabChannel } from '../platform/tab-channel.ts';
import { type CapsOptions, createCaps } from './caps.ts';
import { createCapture } from './capture.ts';
import { createConsent } from './consent.ts';
import { createCorrection } from './correction.ts';
import { createDeadLetters } from './dead-letters.ts';
import { createDeferral } from './deferral.ts';
import { createDeliver } from './deliver.ts';
import type { Delivery } from './delivery.ts';
import { deliveryOptions } from './delivery-options.ts';
import { readDiagnostics } from './diagnostics.ts';
import { createEventBuffer } from './event-buffer.ts';
import { createEventClock } from './event-time.ts';
import { forgetMemory } from './forget-memory.ts';
import { createGiveBack } from './give-back.ts';
import { createHandOver } from './hand-over.ts';
import { createJottings } from './jottings.ts';
import { createKeepaliveBudget } from './keepalive-budget.ts';
import { createLastFlush } from './last-flush.ts';
import { createLeaving } from './leaving.ts';
import { createLedger } from './ledger.ts';
import { createMakingRoom } from './making-room.ts';
import { adoptMemory, MEMORY_SEQUENCE } from './memory-adoption.ts';
import { createMirror } from './mirror.ts';
import { outboxName } from './outbox-name.ts';
import { createPostTrack } from './post-track.ts';
import { createPurge } from './purge.ts';
import { queuedDismissals } from './queued-dismissals.ts';
import { bannerEvent, type EventKey, type Kept } from './records.ts';
import { createSendBatch } from './send-batch.ts';
import { createSender } from './sender.ts';
import { createSettle } from './settle.ts';
import type { DeliverySetup } from './setup.ts';
import type { TabNews } from './tab-news.ts';
import { createTake, sameGroupBy } from './take.ts';
import { createWakeUp } from './wake-up.ts';

/**
 * Wires the half of the client that gets events to the server: what is captured is stored, taken in batches, delivered,
 * and settled. The parts know nothing of each other, only this file knows them all.
 */
export const createDelivery = (setup: DeliverySetup): Delivery => {
  const {
    lifecycle = createPageLifecycle(),
    fetch = (input, init) => globalThis.fetch(input, init),
    fetchLater,
    openStore,
    clock,
    random = Math.random,
    makeRoom = async () => undefined,
  } = setup;
  const { now } = clock;
  const asksHost = setup.correct !== 'in-a-page';
  const correct = setup.correct === 'in-a-page' ? undefined : setup.correct;
  const tell: Notify = (notice) => {
    try {
      setup.notify?.(notice);
    } catch {
      // Whoever listens has its own way to report; here a listener's bug may not cost an event.
    }
  };
  const options = deliveryOptions(setup.options, tell);
  const { maxWaitMs, inDoubt } = options;
  const notify: Notify = (notice) => {
    tell(notice);
    if (setup.onlyOnDemand && ('event' in notice || 'events' in notice))
      news.post({ type: 'notice', notice });
  };
  const newId = () => `${now().toString(36)}-${Math.floor(random() * 2 ** 52).toString(36)}`;
  const tab = newId();
  const name = outboxName(setup.endpoint, setup.appId);

  let isStopped = false;

  const storageFailed = (cause: unknown) =>
    notify({ type: 'failed', kind: 'storage', message: 'the outbox cannot be used', cause });

  const disk = createRestingStore(openStore(name), lifecycle, clock.after);
  const store = createFallbackStore({
    primary: disk,
    clock,
    async adopt(records, primary) {
      await purge.owed();
      // Another tab has emptied the disk while this one was about to come back to it.
      if (consent.isWiped()) return;
      await adoptMemory(records, primary, { jotted: jottings.unremoved(), isAllowed: consent.mayStore() });
    },
    onMode(on, reason) {
      ledger.restart();
      notify({
        type: 'memory-mode',
        on,
        ...(on && { reason: (reason as Error)?.message ?? String(reason) }),
      });
      if (!on) look();
    },
  });
  const news = createTabChannel<TabNews>(name, lifecycle, setup.openChannel);
  const ledger = createLedger({
    store,
    newId,
    firstSequence: () => (store.isMemory() ? MEMORY_SEQUENCE * (1 + Math.floor(random() * 2 ** 12)) : 0),
    onWiped: () => consent.onWiped(),
    onConsent: (chosen) => consent.onStored(chosen),
  });
  const mirror = createMirror();
  const keyring = createKeyring(setup.apiKey, clock.after);
  const budget = createKeepaliveBudget(clock.monotonic);
  const giveBack = createGiveBack({ ledger, newId });
  const deferral = createDeferral({ endpoint: setup.endpoint, fetchLater, giveBack });
  const takeBack = (keys?: EventKey[]) => void deferral.takeBack(keys).catch(storageFailed);
  const letters = createDeadLetters(store, ledger);
  const jottings = createJottings({ disk, isMemory: store.isMemory, ledger, now });

  const gone = (keys: EventKey[]) => {
    mirror.take(keys);
    if (keys.length > 0) news.post({ type: 'gone', keys });
  };
  const capsOptions = {
    ...options,
    store,
    ledger,
    now,
    onGone(keys, dropped) {
      gone(keys);
      for (const drop of dropped) notify({ type: 'dropped', ...drop });
    },
  } satisfies CapsOptions;
  const caps = createCaps(capsOptions);
  const purge = createPurge({ caps, capsOptions, disk, store, newId });
  const makingRoom = createMakingRoom(async () => {
    // The host's cache may fail like any other store, and a removal writes too: the disk may be too full for it.
    const hasRoom = await makeRoom()
      .catch(() => undefined)
      .then(caps.shrink)
      .catch(() => false);
    if (!hasRoom) store.degrade(new Error('the storage quota is used up'));
  });
  const consent = createConsent({
    initial: setup.consent ?? 'enabled',
    store,
    ledger,
    now,
    news,
    followsOptIn: setup.onlyOnDemand === true,
    notify,
    purge: purge.now,
    forgetMemory: () => void forgetMemory(store).catch(storageFailed),
    makingRoom,
    abort() {
      batches.abortAll();
      deferral.abortAll();
      takeBack();
      mirror.clear();
    },
    flush: () => sender.run(true),
  });
  const maySend = () => !isStopped && !lifecycle.isPrerendering() && consent.maySend();
  const buffer = createEventBuffer({
    clock,
    maxWaitMs,
    onDue: (early) => void (setup.onlyOnDemand || sender.run(early)),
  });
  const look = () => void (maySend() && !setup.onlyOnDemand && sender.run(false));

  const isOnline = () => globalThis.navigator?.onLine !== false;
  const batches = createSendBatch({
    ...options,
    clock,
    deliver: createDeliver(createPostTrack({ endpoint: setup.endpoint, fetch }), now),
    settle: createSettle({
      ...options,
      ledger,
      now,
      random,
      newId,
      corrects: setup.correct !== undefined,
      isOnline,
    }),
    budget,
    mirror,
    isLeaving: () => !lifecycle.isVisible(),
    signs: () => wakeUp.signs(),
    onAnswer: buffer.answered,
    onSettled: ({ gone: keys }) => gone(keys),
    notify,
  });

  const sender = createSender({
    tab,
    clock,
    ledger,
    keyring,
    prepare: () => deferral.takeBack(),
    take: createTake({
      ...options,
      store,
      ledger,
      tab,
      now,
      newId,
      maxBatch: batches.limit,
      isTaken: mirror.isHeld,
      asksHost,
    }),
    send: batches.send,
    giveBack: (batch) => giveBack([batch]),
    abandon: batches.abandon,
    adopt: jottings.adopt,
    correct: asksHost
      ? createCorrection({ ledger, clock, correct, maxWaitMs, notify, onGone: gone })
      : async () => undefined,
    async quarantine(keys) {
      await caps.quarantine(keys);
      notify({ type: 'failed', kind: 'storage', message: `${keys.length} stored records cannot be read` });
    },
    isAllowed: maySend,
    wakeAt: (time) => buffer.at(time),
    onWaiting: batches.announce,
    onIdle: () => news.post({ type: 'idle' }),
    notify,
  });
  const lastFlush = createLastFlush({
    store,
    ledger,
    keyring,
    mirror,
    budget,
    deferral,
    tab,
    now,
    newId,
    maxBatch: batches.limit,
    timeoutMs: options.timeoutMs,
    sameGroup: sameGroupBy(inDoubt),
    isAllowed: maySend,
    isOnline,
    mayRepeat: ({ type }) => inDoubt[type] === 'at-least-once',
    send: batches.send,
  });
  const worker = createHandOver(name);
  const { leave, delivered } = createLeaving({
    // What lies in this page's memory the worker cannot see.
    handOver: () => !store.isMemory() && maySend() && ledger.known()?.events !== 0 && worker.handOver(),
    lastFlush,
    onFailed: storageFailed,
  });

  const stored = (kept: Kept[]) => {
    mirror.add(kept);
    for (const { event } of kept) notify({ type: 'tracked', event: bannerEvent(event) });
    void caps.enforce().catch(storageFailed);
    const meta = ledger.known();
    if (meta === undefined) return;
    if (isAhead(meta.wait.until, now(), LONGEST_WAIT_MS)) return buffer.at(meta.wait.until);
    if (!lifecycle.isVisible()) leave();
    else if (meta.events >= batches.limit()) look();
    buffer.added();
  };
  const capture = createCapture({
    ledger,
    jottings,
    tab,
    appId: setup.appId,
    appVersion: setup.appVersion,
    now,
    eventNow: createEventClock(clock),
    isOpen: () => !isStopped,
    isMemory: store.isMemory,
    mayStore: consent.mayStore,
    onStored: stored,
    makingRoom,
    onRefused: () =>
      notify({
        type: 'failed',
        kind: 'config',
        message: 'an event needs a type, a banner, a placement and a user, each a text',
      }),
    onFailed: storageFailed,
  });

  const wakeUp = createWakeUp({
    lifecycle,
    clock,
    ledger,
    isAllowed: maySend,
    retry() {
      store.retry();
      sender.askKey();
    },
    expire: caps.expire,
    look,
    onFailed: storageFailed,
  });
  const stops = [
    wakeUp.stop,
    lifecycle.on('hidden', leave),
    lifecycle.on('leave', leave),
    // Other tabs may have sent meanwhile what this one remembers.
    lifecycle.on('restored', mirror.clear),
    news.subscribe((item) => {
      if (item.type === 'idle') sender.othersIdle();
      else if (item.type === 'notice') tell(item.notice);
      else if (item.type === 'wiped') consent.onWiped();
      else if (item.type === 'consent') consent.onNews(item.state);
      else if (item.type === 'gone') {
        mirror.take(item.keys);
        // Another tab has sent what this one left to the browser.
        takeBack(item.keys);
      }
      // Anything else is news of a newer version.
    }),
  ];
  wakeUp.start();

  const diagnostics = () => readDiagnostics(store, { tab, now: now(), isMemory: store.isMemory });

  return {
    capture,
    async flush() {
      const [sent, left] = await Promise.all([maySend() ? sender.run(true) : 0, delivered()]);
      const { pending, inDoubt: unanswered } = await diagnostics();
      return { delivered: sent + left, pending: pending + unanswered };
    },
    // Without events there is nothing to read.
    dismissals: async (userId) => (ledger.known()?.events ? queuedDismissals(store, userId) : []),
    diagnostics,
    deadLetters: letters.list,
    async retryDeadLetters(keys) {
      await letters.retry(keys);
      look();
    },
    async discardDeadLetters(keys) {
      for (const { event } of await letters.discard(keys)) {
        notify({ type: 'dropped', event: bannerEvent(event), reason: 'discarded' });
      }
    },
    async isAllowed() {
      // A step that decides nothing: it reads the user's last choice.
      await ledger.step([], () => null);
      return consent.mayStore();
    },
    disable: consent.disable,
    async enable() {
      await consent.enable();
      wakeUp.awake();
    },
    stop() {
      isStopped = true;
      for (const stop of stops) stop();
      buffer.stop();
      store.close();
      disk.close();
      worker.stop();
      news.close();
    },
    wipe: consent.wipe,
  };
};
