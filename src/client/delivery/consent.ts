import type { Notify } from '../notice.ts';
import type { OptOutPolicy } from '../options.ts';
import type { Store } from '../platform/store.ts';
import type { TabChannel } from '../platform/tab-channel.ts';
import type { Ledger } from './ledger.ts';
import type { MakingRoom } from './making-room.ts';
import type { Meta } from './records.ts';
import type { TabNews } from './tab-news.ts';

export interface ConsentOptions {
  initial: 'enabled' | 'disabled';
  store: Store;
  ledger: Ledger;
  now: () => number;
  news: TabChannel<TabNews>;
  /** Nobody calls `enable()` here: after a wipe an opt-in in any tab counts. */
  followsOptIn: boolean;
  notify: Notify;
  /** Forgets every event, batch and dead letter. */
  purge: () => Promise<void>;
  /** Forgets what this tab alone has kept, in memory. */
  forgetMemory: () => void;
  /** A full disk refuses no choice. */
  makingRoom: MakingRoom;
  /** Ends requests under way. */
  abort: () => void;
  /** Sends whatever is queued. */
  flush: () => Promise<unknown>;
}

/**
 * Whether events may be stored and sent: what the user chose last, in any tab. The choice is stored beside the events
 * and asked again in each transaction, so a tab that slept through it does no harm either.
 */
export const createConsent = ({
  initial,
  store,
  ledger,
  now,
  news,
  followsOptIn,
  notify,
  purge,
  forgetMemory,
  makingRoom,
  abort,
  flush,
}: ConsentOptions) => {
  let state: Meta['consent'] = initial;
  let isWiped = false;

  const effective = (): Meta['consent'] => {
    if (isWiped) return 'disabled';
    const stored = ledger.known()?.consent ?? 'enabled';
    return state === 'enabled' ? stored : state;
  };
  const tell = () => notify({ type: 'consent', state: effective() === 'enabled' ? 'enabled' : 'disabled' });
  const write = (consent: Meta['consent']) =>
    makingRoom(() =>
      ledger.step(
        [],
        (meta) => {
          meta.consent = consent;
          meta.chosenAt = now();
          return { writes: [], result: true };
        },
        { create: true },
      ),
    );
  const hear = (chosen: Meta['consent']) => {
    state = chosen;
    const known = ledger.known();
    if (known !== undefined) known.consent = chosen;
    if (chosen === 'disabled') abort();
  };

  const beginAnew = () => {
    if (isWiped) ledger.restart();
    isWiped = false;
  };

  return {
    mayStore: () => effective() === 'enabled',
    maySend: () => effective() !== 'disabled',
    isWiped: () => isWiped,

    async enable(): Promise<void> {
      beginAnew();
      hear('enabled');
      await write('enabled');
      news.post({ type: 'consent', state: 'enabled' });
      tell();
    },

    /** Takes effect before the first await: from here on this tab stores nothing, and sends only for `send`. */
    async disable(policy: OptOutPolicy): Promise<void> {
      const chosen = policy === 'send' ? 'draining' : 'disabled';
      hear(chosen);
      news.post({ type: 'consent', state: chosen });
      await write(chosen);
      tell();
      if (policy === 'purge') await makingRoom(purge);
      if (policy === 'send') await flush();
    },

    async wipe(): Promise<void> {
      isWiped = true;
      abort();
      news.post({ type: 'wiped' });
      await store.clear();
      tell();
    },

    /** Another tab's user chose. */
    onNews(chosen: Meta['consent']) {
      if (followsOptIn && chosen === 'enabled') beginAnew();
      hear(chosen);
      tell();
    },

    /** A choice that no news told of: this page was away, or no channel leads here. */
    onStored(chosen: Meta['consent']) {
      if (chosen === state) return;
      hear(chosen);
      tell();
    },

    /** The store was emptied by somebody else: nothing is written until `enable()` or a reload. */
    onWiped() {
      if (isWiped) return;
      isWiped = true;
      abort();
      forgetMemory();
      tell();
    },
  };
};
