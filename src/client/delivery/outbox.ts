import { loadOnce } from '../load-once.ts';
import type { Notify } from '../notices.ts';
import { deliveryOptions } from '../options/option-schema.ts';
import { createTabChannel } from '../platform/tab-channel.ts';
import type {
  DeliveryContext,
  DeliverySetup,
  Diagnostics,
  FlushResult,
  TabMessage,
  Trouble,
} from './delivery.ts';
import { type CapMonitor, createCapMonitor } from './log/cap-monitor.ts';
import { createLog, type Log } from './log/log.ts';
import { EVENT_RANGE } from './log/records.ts';
import { createSender, type Sender } from './sender/sender.ts';
import { sharedFunctions } from './trouble/shared-functions.ts';
import type { createTrouble } from './trouble/trouble.ts';

const createContext = (setup: DeliverySetup, loadTrouble: () => Promise<Trouble>): DeliveryContext => {
  const { clock, random, lifecycle, openChannel, isWorker, notify, fail } = setup;
  const newId = () => `${clock.now().toString(36)}-${Math.floor(random() * 2 ** 52).toString(36)}`;
  const tabs = createTabChannel<TabMessage>(setup.logName, lifecycle, openChannel);
  tabs.subscribe((item) => {
    if (item.type === 'notice' && item.notice) notify(item.notice);
  });

  const tell: Notify = (notice) => {
    notify(notice);
    if (isWorker && ('event' in notice || 'events' in notice)) tabs.post({ type: 'notice', notice });
  };
  let loaded: Trouble | undefined;

  return {
    ...setup,
    trouble: loadOnce(async () => {
      loaded = await loadTrouble();
      return loaded;
    }, fail),
    loaded: () => loaded,
    tab: newId(),
    newId,
    options: deliveryOptions(setup.delivery, notify),
    tabs,
    notify: tell,
    deliver(events) {
      if (events.length === 0) return;
      const dismissals = events.filter(({ type }) => type === 'dismiss');
      if (dismissals.length > 0) setup.onDismissed?.(dismissals);
      tell({ type: 'delivered', events });
    },
  };
};

export type LoadTrouble = () => Promise<{ createTrouble: typeof createTrouble }>;

/** Stored events and their sender. A service worker needs nothing else; a page adds event capture with `createDelivery`. */
export interface Outbox {
  context: DeliveryContext;
  log: Log;
  capMonitor: CapMonitor;
  sender: Sender;
  /** Sends all events in the log. `others` resolves with the number of events that other requests of this page deliver. */
  flush(others?: Promise<number>): Promise<FlushResult>;
  diagnostics(): Promise<Diagnostics>;
}

/** Opens the outbox of an app. `loadTrouble` loads the trouble chunk. */
export const createOutbox = (setup: DeliverySetup, loadTrouble: LoadTrouble): Outbox => {
  const context = createContext(setup, async () => {
    const { createTrouble } = await loadTrouble();
    return createTrouble({ shared: sharedFunctions, context, log, caps: capMonitor.caps });
  });
  const log = createLog(context);
  const capMonitor = createCapMonitor(context, log);
  const sender = createSender(context, log, capMonitor);
  // The disk may contain another choice of the user.
  log.store.onDisk(() => void log.control().then(() => sender.wake()));
  const send = () => (context.canSend() ? sender.run(true) : 0);

  return {
    context,
    log,
    capMonitor,
    sender,
    async flush(others = Promise.resolve(0)) {
      const [sent, flushed] = await Promise.all([send(), others]);
      // Corrected events are sent as well.
      await context.loaded()?.correction.settled();
      const corrected = await send();
      let pending = 0;
      for await (const _ of log.read(EVENT_RANGE)) pending += 1;
      return { delivered: sent + flushed + corrected, pending };
    },
    diagnostics: async () => (await context.trouble()).diagnostics(),
  };
};
