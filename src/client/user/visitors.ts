import type { VISITOR_JOIN_PATH } from '../../protocol/index.ts';
import type { UserRecord } from '../banners/user-record.ts';
import type { DeferredContext } from '../deferred-context.ts';
import type { Delivery } from '../delivery/delivery.ts';

/** Repeated, because a module that two deferred chunks share breaks on pages that extend `Object.prototype`. */
const PATH: typeof VISITOR_JOIN_PATH = '/placard/visitors/join';

interface VisitorsOptions extends DeferredContext {
  isVisitorId: (id: string) => boolean;
}

/** Returns a random visitor ID. `crypto.randomUUID` is missing on pages without HTTPS. */
const newVisitorId = (): string => {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) =>
    byte.toString(16).padStart(2, '0'),
  );
  return `placard-visitor-${hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`;
};

/**
 * Manages the visitor of this browser profile, created while no user is signed in and merged with the user who signs in. The
 * profile stores `<visitor>`; from sign-in until the merge `<visitor> <user>`, so that no other user gets it. Returns the
 * function that updates the visitor. The function resolves when the profile has a visitor, or nothing is left to merge for now.
 * It is a separate chunk that loads only with `visitors()`.
 */
export const createVisitors = (options: VisitorsOptions, delivery: Pick<Delivery, 'queued' | 'flush'>) => {
  const { settings, permission, cache, store, userTokens, fail, post, isVisitorId } = options;
  const { visitorKey } = permission;
  const { appId, appVersion } = settings;
  let joining: Promise<void> | undefined;

  /** Returns the stored `[visitor, user]`. A user ID may contain spaces. */
  const read = (): [string, string] => {
    const [visitorId, ...user] = (localStorage.getItem(visitorKey) ?? '').split(' ');
    return [visitorId!, user.join(' ')];
  };

  /** Also hides banners from the user that the visitor dismissed. */
  const copyDismissals = async (visitorId: string, userId: string): Promise<void> => {
    const record = await store.get<UserRecord>(cache.key(visitorId));
    // Another user may have signed in in the meantime.
    if (record?.dismissed?.length && permission.userId() === userId) await cache.dismiss(record.dismissed);
  };

  /** Merges the visitor with the user. Returns `true` if nothing is left to retry. */
  const tryJoin = async (visitorId: string, userId: string): Promise<boolean> => {
    const token = await userTokens.get(userId);
    if (!token || !permission.canWrite()) return false;
    const body = { external_user_id: userId, visitor_id: visitorId, app_id: appId, app_version: appVersion };
    const { status } = await post(PATH, { ...body, user_token: token });
    const ok = status === 200;
    if (!ok) fail('sync', `The visitor could not be merged with the user: HTTP ${status}`);
    return ok || (status < 500 && ![401, 408, 429].includes(status));
  };

  /** Sends the queue before the merge, because the service would later count events of this ID as a new visitor's. */
  const join = async (visitorId: string, userId: string): Promise<void> => {
    if (userTokens.isUsed) {
      await delivery.flush();
      if ((await delivery.queued(visitorId)).length > 0) return;
      if (!(await tryJoin(visitorId, userId))) return;
    }
    if (read()[0] === visitorId) localStorage.removeItem(visitorKey);
  };

  const update = async (): Promise<void> => {
    // An opt-out or a wipe may have happened while this chunk was loading.
    if (!permission.canWrite()) return;
    const userId = permission.signedIn();
    const [visitorId, owner] = read();
    const isVisitor = isVisitorId(visitorId);
    if (userId === null) {
      if (!isVisitor || owner) localStorage.setItem(visitorKey, newVisitorId());
      return;
    }
    if (!isVisitor || (owner && owner !== userId)) return localStorage.removeItem(visitorKey);
    localStorage.setItem(visitorKey, `${visitorId} ${userId}`);
    if (!owner) await copyDismissals(visitorId, userId);
    joining ??= join(visitorId, userId)
      .catch((cause) => fail('sync', 'The visitor could not be merged with the user', cause))
      .finally(() => {
        joining = undefined;
      });
    await joining;
  };

  return () =>
    update().catch((cause) => {
      // `SecurityError` or `QuotaExceededError`.
      if (!(cause instanceof DOMException)) throw cause;
      fail('storage', 'localStorage is blocked or full: no visitor is created', cause);
    });
};
