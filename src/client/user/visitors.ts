import type { UserRecord } from '../banners/user-record.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { LateContext } from '../late-context.ts';

/** The constants of the wire are given and not imported: a module that two late chunks share breaks on pages that extend `Object.prototype`. */
interface VisitorsOptions extends LateContext {
  isVisitorId: (id: string) => boolean;
  joinPath: string;
}

/** A random ID in the form of `isVisitorId`. `crypto.randomUUID` is missing on pages without https. */
const newVisitorId = (): string => {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) =>
    byte.toString(16).padStart(2, '0'),
  );
  return `placard-visitor-${hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`;
};

/**
 * The visitor of this browser profile: made while no user is signed in, and joined with the user who signs in. The profile
 * keeps `<visitor>`, from the sign-in until the join `<visitor> <user>`, so that no one else gets what is this user's.
 * Returns the verb that meets the visitor. It resolves when the profile has a
 * visitor, or nothing is left to join for now. A chunk of its own: only a page that takes visitors loads it.
 */
export const createVisitors = (options: VisitorsOptions, delivery: Pick<Delivery, 'queued' | 'flush'>) => {
  const { settings, user, cache, store, userTokens, mayWrite, fail, post, isVisitorId } = options;
  const { visitorKey } = user;
  const { appId, appVersion } = settings;
  let joining: Promise<void> | undefined;

  /** What the profile keeps, as `[visitor, user]`: a user's ID may have spaces. */
  const read = (): [string, string] => {
    const [visitorId, ...user] = (localStorage.getItem(visitorKey) ?? '').split(' ');
    return [visitorId!, user.join(' ')];
  };

  /** Hides what the visitor has dismissed from the user, too. */
  const carryOver = async (visitorId: string, userId: string): Promise<void> => {
    const record = await store.get<UserRecord>(cache.key(visitorId));
    // Another user may have signed in meanwhile.
    if (record?.dismissed?.length && user.id() === userId) await cache.dismiss(record.dismissed);
  };

  /** True when there is nothing more to try. */
  const tryJoin = async (visitorId: string, userId: string): Promise<boolean> => {
    const token = await userTokens.ask(userId);
    if (!token || !mayWrite()) return false;
    const body = { external_user_id: userId, visitor_id: visitorId, app_id: appId, app_version: appVersion };
    const { status } = await post(options.joinPath, { ...body, user_token: token });
    const ok = status === 200;
    if (!ok) fail('sync', `The visitor could not be joined with the user: ${status}`);
    return ok || (status < 500 && ![401, 408, 429].includes(status));
  };

  /** Under its ID the service would take what comes after the join for a new visitor, so what is queued goes first. */
  const join = async (visitorId: string, userId: string): Promise<void> => {
    if (settings.userToken) {
      await delivery.flush();
      if ((await delivery.queued(visitorId)).length > 0) return;
      if (!(await tryJoin(visitorId, userId))) return;
    }
    if (read()[0] === visitorId) localStorage.removeItem(visitorKey);
  };

  const meet = async (): Promise<void> => {
    // An opt-out or a wipe may have come while this chunk was loading.
    if (!mayWrite()) return;
    const userId = user.signedIn();
    const [visitorId, owner] = read();
    const isVisitor = isVisitorId(visitorId);
    if (userId === null) {
      if (!isVisitor || owner) localStorage.setItem(visitorKey, newVisitorId());
      return;
    }
    if (!isVisitor || (owner && owner !== userId)) return localStorage.removeItem(visitorKey);
    localStorage.setItem(visitorKey, `${visitorId} ${userId}`);
    if (!owner) await carryOver(visitorId, userId);
    joining ??= join(visitorId, userId)
      .catch((cause) => fail('sync', 'The visitor could not be joined with the user', cause))
      .finally(() => {
        joining = undefined;
      });
    await joining;
  };

  return meet;
};
