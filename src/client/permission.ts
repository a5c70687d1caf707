import { MAX_EXTERNAL_USER_ID_BYTES } from '../protocol/index.ts';
import type { Fail } from './notices.ts';
import { removeLocal } from './platform/remove-local.ts';
import type { Store } from './platform/store.ts';

/** Treatment of queued events on opt-out: `keep` them until the next opt-in, `send` them, or `purge` (delete) them. */
export type OptOutPolicy = 'keep' | 'send' | 'purge';

/** User's choice, in pages, logs and tab messages: opted in, opted out with a policy, or `disabled`, which purges the queue. */
export type ConsentState = 'enabled' | Exclude<OptOutPolicy, 'purge'> | 'disabled';

/** Decision of the user in this page: opt in, opt out, or delete everything. */
export type Decision = 'enable' | OptOutPolicy | 'wipe';

/** Applies a decision to a log. Rejects if the log fails; may then run again. */
export type StoreDecision = (
  log: Pick<Store, 'entries' | 'update' | 'deleteMany' | 'clear'>,
) => Promise<void>;

/** Consent state of this page: the user's last choice, or a wipe. */
export type State =
  | ConsentState
  /** No choice yet. The page works in memory, and stores and sends nothing. */
  | 'pending'
  /** Everything is deleted. Nothing is written until the host enables the client again. */
  | 'wiped';

/** Choice with its time, as stored in the log and sent between tabs. */
export interface ConsentRecord<Consent = ConsentState> {
  consent: Consent;
  /** Unix milliseconds; 0 if the user has never chosen. */
  decidedAt: number;
}

/** Maximum time in the future; a later one comes from a wrong clock. */
const MAX_SKEW_MS = 10 * 60_000;

/**
 * Creates the permission of a page or service worker, which all parts ask. `may…` returns whether the user allows an action;
 * `isActive` and the `can…` of `platform/page.ts` also require that the page runs.
 */
export const createPermission = (initial: State, now: () => number, isStopped: () => boolean) => {
  const listeners: ((before: State) => unknown)[] = [];
  const startedAt = now();
  let state = initial;
  /** Time of the current choice, and of the last choice made in this page. */
  let decidedAt = 0;
  let ownAt = 0;
  const is = (...states: State[]): boolean => states.includes(state);

  const set = async (next: State): Promise<void> => {
    const before = state;
    state = next;
    // Only a repeated opt-in changes nothing. A repeated opt-out deletes again, because this page may have started without
    // consent while other pages stored something.
    if (before !== 'enabled' || next !== before)
      await Promise.all(listeners.map((listener) => listener(before)));
  };

  /** Returns the record for the log. */
  const record = (): ConsentRecord => ({
    consent: state === 'pending' ? 'enabled' : state === 'wiped' ? 'disabled' : state,
    decidedAt,
  });

  /**
   * Returns whether `choice` is older than `other`. An opt-out wins a tie, and wins over a time in the future; otherwise a
   * clock that is set back would void it.
   */
  const isSuperseded = (choice: ConsentRecord<unknown>, other: ConsentRecord): boolean => {
    const ahead = other.decidedAt - choice.decidedAt;
    return choice.consent === 'enabled'
      ? (ahead > 0 || (ahead === 0 && other.consent !== 'enabled')) && other.decidedAt < now() + MAX_SKEW_MS
      : ahead > 0 && other.decidedAt <= now();
  };

  const mayAct = (): boolean => is('enabled', 'pending');

  return {
    is,
    record,
    isSuperseded,
    isStopped,
    /** Returns whether the client may show, sync and keep anything. While the choice is pending, it keeps data only in memory. */
    mayAct,
    /** Returns whether anything may be stored on the device. */
    mayWrite: () => is('enabled'),
    /** Returns whether events captured before now may still be stored. */
    mayStorePending: () => !is('disabled', 'wiped'),
    /** Returns whether queued events may be sent. */
    maySend: () => is('enabled', 'send'),
    /** Returns whether the client may show, sync and track. */
    isActive: () => mayAct() && !isStopped(),
    /**
     * Returns whether the choice of this time was made in this page, or never. Events of the page were captured before the
     * choice, regardless of the clock.
     */
    isOwn: (at: number): boolean => at === 0 || at === ownAt,
    /**
     * Applies a choice of another tab or an earlier visit, unless a later choice applies. Resolves when all listeners are done.
     */
    async merge(other: ConsentRecord<ConsentState | 'wiped'>): Promise<void> {
      const isOptIn = other.consent === 'enabled';
      // The host overrides an opt-in from before this page, and after a wipe only the host can opt in.
      const isPast = isOptIn && state !== 'enabled' && other.decidedAt < startedAt;
      const isKnown = other.consent === state && other.decidedAt === decidedAt;
      if (isPast || isKnown || is('wiped') || isSuperseded(other, record())) return;
      decidedAt = other.decidedAt;
      await set(other.consent);
    },
    /**
     * Applies a decision of this page. Resolves like `merge`. Without an earlier choice, pending events are neither kept nor
     * sent.
     */
    decide(decision: Decision): Promise<void> {
      // Later than every known choice, regardless of the clock.
      decidedAt = ownAt = Math.max(now(), decidedAt + 1);
      if (decision === 'enable') return set('enabled');
      if (decision === 'wipe') return set('wiped');
      if (decision === 'send' && !is('pending')) return set('send');
      return set(decision === 'keep' && is('enabled', 'send', 'keep') ? 'keep' : 'disabled');
    },
    /**
     * Calls `listener` after each change, with the previous state. A promise that it returns must not reject. Subscribers:
     * `create-placard.ts` for the banners and the host, `delivery/create-delivery.ts` for events and requests.
     */
    subscribe: (listener: (before: State) => unknown): void => void listeners.push(listener),
  };
};

export type Permission = ReturnType<typeof createPermission>;

/** Returns whether a user ID is valid. An invalid ID causes a notice and no exception, because it comes from the host's data. */
const isUsable = (userId: unknown): userId is string | null =>
  userId === null ||
  (typeof userId === 'string' && userId !== '' && new Blob([userId]).size <= MAX_EXTERNAL_USER_ID_BYTES);

/** The settings that the permission of a page depends on. */
interface PermissionSettings {
  /** Unknown values disable the client. */
  consent: string;
  userId: string | null;
  appId: string;
  endpoint: string;
  use: { visitors?: unknown };
  platform: { now: () => number };
}

/** Creates the permission of a page, with its current user, who depends on the choice. */
export const createPagePermission = (settings: PermissionSettings, isStopped: () => boolean, fail: Fail) => {
  const { use, appId, endpoint, platform } = settings;
  const initial = (['enabled', 'pending'] as const).find((known) => known === settings.consent);
  const permission = createPermission(initial ?? 'disabled', platform.now, isStopped);
  /** Key of the visitor in localStorage, which is available before the first paint. */
  const visitorKey = `placard-visitor:${appId}@${endpoint}`;
  /** Key of the tab's name in sessionStorage, which survives a reload. */
  const tabKey = 'placard-tab';

  const usable = (userId: string | null): string | null => {
    if (isUsable(userId)) return userId;
    // Deferred, because no listener can subscribe while the client is being created.
    queueMicrotask(() =>
      fail('config', `A user ID must be a string of 1 to ${MAX_EXTERNAL_USER_ID_BYTES} bytes`),
    );
    return null;
  };
  let signedIn = usable(settings.userId);
  let id: string | null = null;

  const readVisitor = (): string | null => {
    try {
      const kept = use.visitors && permission.mayWrite() ? localStorage.getItem(visitorKey) : null;
      // An entry with a user means that the visitor already belongs to that user.
      return kept?.includes(' ') ? null : kept;
    } catch {
      // Storage is blocked, so there is no visitor.
      return null;
    }
  };

  return {
    ...permission,
    visitorKey,
    tabKey,
    signedIn: () => signedIn,
    /** Returns the ID of the signed-in user, or else of the visitor; `null` if neither, or without consent. */
    userId: () => id,
    /** Signs a user in or out. Returns `false` if nothing changed. */
    signIn(userId: string | null): boolean {
      const before = signedIn;
      signedIn = usable(userId);
      return signedIn !== before;
    },
    /** Updates the current user. Returns whether it changed; the caller must then open the cache at once. */
    update(): boolean {
      const before = id;
      id = permission.mayAct() ? (signedIn ?? readVisitor()) : null;
      return id !== before;
    },
    /** Removes the visitor of the browser profile and the name of the tab. */
    deleteNames: () => [visitorKey, tabKey].forEach(removeLocal),
  };
};

export type PagePermission = ReturnType<typeof createPagePermission>;
