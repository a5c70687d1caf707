import type { DeferredChunk } from './deferred-chunk.ts';
import type { DeferredClient } from './deferred-client.ts';
import type { ConsentRecord, Decision, Permission } from './permission.ts';
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
 * Stores a decision in the log if the delivery cannot be loaded. The delivery does the rest once it is loaded. Repeats the
 * log's record format, because a shared module would load before the first paint; a test compares them.
 */
export const storeWithoutDelivery = async (
  { logName, platform }: LogSetup,
  decision: Decision,
  permission: Pick<Permission, 'record' | 'isSuperseded' | 'merge'>,
): Promise<void> => {
  const { openStore, openChannel = (name) => new BroadcastChannel(name) } = platform;
  const record = permission.record();
  const log = openStore(logName);
  // Post first, because the disk may hang.
  if (decision !== 'enable') {
    try {
      const channel = openChannel(logName);
      channel.postMessage({ type: 'consent', ...record, ...(decision === 'wipe' && { consent: 'wiped' }) });
      channel.close();
    } catch {
      // Some frames have no channel.
    }
  }
  if (decision === 'wipe') return log.clear();
  const key = ['control', 1, 'meta'];
  let later: ConsentRecord | undefined;
  await log.update<ConsentRecord & { v: number }>([key], ([found]) => {
    later = found && permission.isSuperseded(record, found) ? found : undefined;
    // Records of a newer version are not changed.
    return later || (found && found.v > 1) ? [] : [[key, { ...found, v: 1, ...record }]];
  });
  if (decision === 'purge') {
    const records = await log.entries<{ v?: number; consent?: unknown } | undefined>();
    // Keeps events captured after a later opt-in. The capture time is part of the key.
    const isKept = (key: unknown): boolean => later !== undefined && Object(key)[2] > record.decidedAt;
    const queue = records.filter(([key, found]) => found?.v === 1 && !found.consent && !isKept(key));
    await log.deleteMany(queue.map(([each]) => each));
  }
  if (later) await permission.merge(later);
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
    const carriedOut = permission.decide(decision);
    let isDone = false;
    await deferred.runWithFallback(
      // The disk has already been purged, and another purge would delete events captured since an opt-in. Pending captures are
      // discarded in any case.
      ({ delivery }) => delivery.applyDecision(decision, isDone && permission.mayAct()),
      async () => {
        await storeWithoutDelivery(settings, decision, permission).catch(report);
        isDone = true;
      },
    );
    // An opt-in begins a session; the caller does not wait for it.
    if (decision !== 'enable') await carriedOut;
  };
