import type { DeferredChunk } from './deferred-chunk.ts';
import type { DeferredClient } from './deferred-client.ts';
import type { ConsentRecord, Decision, Permission, StoreDecision } from './permission.ts';
import type { BroadcastChannelLike } from './platform/page.ts';
import type { Store } from './platform/store.ts';

interface LogSetup {
  logName: string;
  platform: {
    openStore: (name: string) => Store;
    openChannel?: ((name: string) => BroadcastChannelLike) | undefined;
  };
}

/**
 * Creates the function that applies a decision to a log without the rest of the delivery, which may not be loaded. A later choice
 * in this page or the log replaces the decision, except that a deletion still applies to what was stored before that choice.
 * Repeats the log's record format, because a shared module would load before the first paint; a test compares them.
 */
export const createStoreDecision =
  (decision: Decision, permission: Pick<Permission, 'record' | 'isSuperseded' | 'merge'>): StoreDecision =>
  async (log) => {
    if (decision === 'wipe') return log.clear();
    const key = ['control', 1, 'meta'];
    let last = permission.record();
    try {
      await log.update<ConsentRecord & { v: number }>([key], ([found]) => {
        if (found && permission.isSuperseded(last, found)) {
          last = found;
          void permission.merge(found);
        }
        // Records of a newer version are not changed.
        return found && found.v > 1 ? [] : [[key, { ...found, v: 1, ...last }]];
      });
    } finally {
      // A full disk rejects the record, but not the deletion.
      if (decision === 'purge') {
        const records = await log.entries<{ v?: number; consent?: unknown } | undefined>();
        // Keeps events captured after a later opt-in. The capture time is part of the key.
        const queue = records.filter(
          ([key, found]) =>
            found?.v === 1 &&
            !found.consent &&
            !(last.consent === 'enabled' && (key as number[])[2]! > last.decidedAt),
        );
        await log.deleteMany(queue.map(([each]) => each));
      }
    }
  };

/** Stores a decision if the delivery cannot be loaded, and tells the other tabs of an opt-out or wipe. */
export const storeWithoutDelivery = async (
  { logName, platform }: LogSetup,
  decision: Decision,
  permission: Pick<Permission, 'record'>,
  store: StoreDecision,
): Promise<void> => {
  const { openStore, openChannel = (name) => new BroadcastChannel(name) } = platform;
  // Post first, because the disk may hang.
  if (decision !== 'enable') {
    try {
      const channel = openChannel(logName);
      channel.postMessage({
        type: 'consent',
        ...permission.record(),
        ...(decision === 'wipe' && { consent: 'wiped' }),
      });
      channel.close();
    } catch {
      // Some frames have no channel.
    }
  }
  return store(openStore(logName));
};

interface DecideOptions {
  settings: LogSetup;
  permission: Permission;
  deferred: DeferredChunk<DeferredClient>;
  report: (cause: unknown) => void;
}

/**
 * Creates the function that applies a decision of the user: to this page synchronously, then to the log and the other tabs
 * (`delivery/apply-decision.ts`).
 */
export const createDecide =
  ({ settings, permission, deferred, report }: DecideOptions) =>
  async (decision: Decision): Promise<void> => {
    const applied = permission.decide(decision);
    /** Absent once the disk has the decision: another purge would delete events captured since an opt-in. */
    let store: StoreDecision | undefined = createStoreDecision(decision, permission);
    await deferred.runWithFallback(
      ({ delivery }) => delivery.applyDecision(decision, store),
      () =>
        storeWithoutDelivery(settings, decision, permission, store!).then(() => {
          store = undefined;
        }, report),
    );
    // An opt-in begins a session; the caller does not wait for it.
    if (decision !== 'enable') await applied;
  };
