import type { Store } from '../platform/store.ts';
import type { TabLink } from '../platform/tab-channel.ts';
import type { Choice, ChoiceRecord, Decision } from './consent.ts';

/** Where the log is. */
interface LogSetup {
  logName: string;
  platform: {
    openStore: (name: string) => Store;
    openChannel?: (name: string) => TabLink;
  };
}

/**
 * Brings a decision to the log while the delivery cannot be loaded. The delivery does the rest when it is there.
 * The shape of the record is the log's; a test compares both, as what this chunk and a later one share would load first.
 */
export const decideWithoutDelivery = async (
  { logName, platform }: LogSetup,
  decision: Decision,
  record: ChoiceRecord,
): Promise<void> => {
  const { openStore, openChannel = (name) => new BroadcastChannel(name) } = platform;
  const log = openStore(logName);
  // First, as the disk may hang.
  if (decision !== 'enable') {
    try {
      const channel = openChannel(logName);
      channel.postMessage({ type: 'consent', choice: decision === 'wipe' ? 'wiped' : record.consent });
      channel.close();
    } catch {
      // Some frames have no channel.
    }
  }
  if (decision === 'wipe') return log.clear();
  const key = ['control', 1, 'meta'];
  // A newer version's records are left alone.
  await log.update<{ v: number }>([key], ([found]) =>
    found && found.v > 1 ? [] : [[key, { ...found, v: 1, ...record }]],
  );
  if (decision !== 'purge') return;
  const records = await log.entries<{ v?: number; consent?: Choice } | undefined>();
  const queue = records.filter(([, found]) => found?.v === 1 && !found.consent);
  await log.deleteMany(queue.map(([each]) => each));
};
