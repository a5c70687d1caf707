import { isVisitorId, VISITOR_JOIN_PATH } from '../../protocol/index.ts';
import type { UserRecord } from '../banners/user-record.ts';
import { createKeyring } from '../credentials/keyring.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { LateContext } from '../late-context.ts';
import { createPostJson } from '../platform/http.ts';
import { withTimeout } from '../platform/waits.ts';

/** A session begins without a visitor who takes longer, in milliseconds. */
const MEET_TIMEOUT_MS = 2_000;
/** How long a join may take, in milliseconds. */
const JOIN_TIMEOUT_MS = 15_000;

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
 * Returns the verb that meets the visitor, where the host takes visitors. `who` is the user who has signed in, if one has. It
 * resolves when the profile has a visitor, or nothing is left to join for now.
 */
export const createVisitors = (context: LateContext, delivery: Pick<Delivery, 'queued' | 'flush'>) => {
  const { settings, visitorKey, cache, store, userTokens, mayWrite, fail } = context;
  const { endpoint, apiKey, appId, appVersion, platform } = settings;
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
    if (record?.dismissed?.length && cache.userId() === userId) await cache.dismiss(record.dismissed);
  };

  /** True when there is nothing more to try. */
  const post = async (visitorId: string, userId: string): Promise<boolean> => {
    const token = await userTokens.ask(userId);
    if (!token || !mayWrite()) return false;
    const body = { external_user_id: userId, visitor_id: visitorId, app_id: appId, app_version: appVersion };
    const { status } = await createPostJson(endpoint, platform.fetch)(VISITOR_JOIN_PATH, {
      body: JSON.stringify({ ...body, user_token: token }),
      key: await createKeyring(apiKey, platform.after).ask(),
      signal: AbortSignal.timeout(JOIN_TIMEOUT_MS),
    });
    const ok = status === 200;
    if (!ok) fail('sync', `The visitor could not be joined with the user: ${status}`);
    return ok || (status < 500 && ![401, 408, 429].includes(status));
  };

  /** Under its ID the service would take what comes after the join for a new visitor, so what is queued goes first. */
  const join = async (visitorId: string, userId: string): Promise<void> => {
    if (settings.userToken) {
      await delivery.flush();
      if ((await delivery.queued(visitorId)).length > 0) return;
      if (!(await post(visitorId, userId))) return;
    }
    if (read()[0] === visitorId) localStorage.removeItem(visitorKey);
  };

  const meet = async (who: () => string | null): Promise<void> => {
    const userId = who();
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

  return async (who: () => string | null): Promise<void> => {
    if (!settings.visitors || !mayWrite()) return;
    await withTimeout(meet(who), platform.after, MEET_TIMEOUT_MS, 'The visitor').catch((cause) =>
      fail('internal', 'The visitor is not known yet', cause),
    );
  };
};
