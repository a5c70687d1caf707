import type { BannerEvent } from '../banner-event.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import type { hideAgain } from '../banners/hide-again.ts';
import type { UserRecord } from '../banners/user-record.ts';
import type { Settings } from '../first/read-options.ts';
import type { UserTokens } from '../late/user-tokens.ts';
import type { Fail } from '../notice.ts';
import type { createPostJson } from '../platform/post-json.ts';
import type { Store } from '../platform/store.ts';

/** How long a join may take, in milliseconds. */
const TIMEOUT_MS = 15_000;

/** Given and not imported: a module that two late chunks share breaks on pages that extend `Object.prototype`. */
export interface VisitorsOptions {
  settings: Settings;
  /** Where the profile keeps its visitor. */
  storageKey: string;
  isVisitorId: (id: string) => boolean;
  joinPath: string;
  cache: BannerCache;
  store: Store;
  userTokens: UserTokens;
  post: ReturnType<typeof createPostJson>;
  askKey: () => Promise<string>;
  hideAgain: typeof hideAgain;
  /** The events of a user that are still to be delivered. */
  queued: (userId: string) => Promise<BannerEvent[]>;
  flush: () => Promise<unknown>;
  mayWrite: () => boolean;
  fail: Fail;
}

/** A random ID in the form of `isVisitorId`. `crypto.randomUUID` is missing on pages without https. */
const newVisitorId = (): string => {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) =>
    byte.toString(16).padStart(2, '0'),
  );
  return `placard-visitor-${hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`;
};
const ID_LENGTH = 'placard-visitor-'.length + 36;

/**
 * The visitor of this browser profile: made while no user is signed in, and joined with the user who signs in. The profile
 * keeps `<visitor>`, from the sign-in until the join `<visitor> <user>`, so that no one else gets what is this user's.
 */
export const createVisitors = (options: VisitorsOptions) => {
  const { settings, storageKey, isVisitorId, cache, store, userTokens, queued, mayWrite, fail } = options;
  const { appId, appVersion } = settings;
  let joining: Promise<void> | undefined;

  /** What the profile keeps, as `[visitor, user]`. */
  const read = (): [string, string] => {
    const kept = localStorage.getItem(storageKey) ?? '';
    return [kept.slice(0, ID_LENGTH), kept.slice(ID_LENGTH + 1)];
  };

  /** Hides what the visitor has dismissed from the user, too. */
  const carryOver = async (visitorId: string, userId: string): Promise<void> => {
    const record = await store.get<UserRecord>(cache.key(visitorId));
    const dismissed = record?.dismissed ?? [];
    // Another user may have signed in meanwhile.
    if (dismissed.length > 0 && cache.userId() === userId)
      await cache.change((own) => options.hideAgain(own, dismissed));
  };

  /** True when there is nothing more to try. */
  const post = async (visitorId: string, userId: string): Promise<boolean> => {
    const token = await userTokens.ask(userId);
    if (!token || !mayWrite()) return false;
    const body = { external_user_id: userId, visitor_id: visitorId, app_id: appId, app_version: appVersion };
    const { status } = await options.post(options.joinPath, {
      body: JSON.stringify({ ...body, user_token: token }),
      key: await options.askKey(),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const ok = status === 200;
    if (!ok) fail('sync', `The visitor could not be joined with the user: ${status}`);
    return ok || (status < 500 && ![401, 408, 429].includes(status));
  };

  /** Under its ID the service would take what comes after the join for a new visitor, so what is queued goes first. */
  const join = async (visitorId: string, userId: string): Promise<void> => {
    if (settings.userToken) {
      await options.flush();
      if ((await queued(visitorId)).length > 0) return;
      if (!(await post(visitorId, userId))) return;
    }
    if (read()[0] === visitorId) localStorage.removeItem(storageKey);
  };

  return {
    /** `who` is the user who has signed in, if one has. Resolves when the profile has a visitor, or nothing is left to join for now. */
    async meet(who: () => string | null): Promise<void> {
      const userId = who();
      const [visitorId, owner] = read();
      const isVisitor = isVisitorId(visitorId);
      if (userId === null) {
        if (!isVisitor || owner) localStorage.setItem(storageKey, newVisitorId());
        return;
      }
      if (!isVisitor || (owner && owner !== userId)) return localStorage.removeItem(storageKey);
      localStorage.setItem(storageKey, `${visitorId} ${userId}`);
      if (!owner) await carryOver(visitorId, userId);
      joining ??= join(visitorId, userId)
        .catch((cause) => fail('sync', 'The visitor could not be joined with the user', cause))
        .finally(() => {
          joining = undefined;
        });
      await joining;
    },
  };
};
