import { isVisitorId, VISITOR_JOIN_PATH } from '../../protocol/index.ts';
import { hideAgain } from '../banners/hide-again.ts';
import type { Delivery } from '../delivery/index.ts';
import type { Fail } from '../notice.ts';
import { createKeyring } from '../platform/keyring.ts';
import { createPostJson } from '../platform/post-json.ts';
import { withTimeout } from '../platform/timeout.ts';
import type { createVisitors, VisitorsOptions } from './visitors.ts';

/** A session begins without a join that takes longer. */
const TIMEOUT_MS = 2_000;

interface MeetVisitorOptions
  extends Pick<VisitorsOptions, 'settings' | 'storageKey' | 'cache' | 'store' | 'userTokens'> {
  delivery: Delivery;
  mayWrite: () => boolean;
  fail: Fail;
}

/** Loads the part that works for visitors, where the host wants it. */
export const createMeetVisitor = ({ delivery, fail, ...options }: MeetVisitorOptions) => {
  const { settings, mayWrite } = options;
  let visitors: ReturnType<typeof createVisitors> | undefined;

  const meet = async (who: () => string | null): Promise<void> => {
    const { createVisitors } = await import('./visitors.ts');
    visitors ??= createVisitors({
      ...options,
      isVisitorId,
      joinPath: VISITOR_JOIN_PATH,
      post: createPostJson(settings.endpoint, settings.platform.fetch),
      askKey: createKeyring(settings.apiKey, settings.platform.after).ask,
      hideAgain,
      queued: delivery.queued,
      flush: delivery.flush,
      fail,
    });
    if (mayWrite()) await visitors.meet(who);
  };

  return async (who: () => string | null): Promise<void> => {
    if (!settings.visitors || !mayWrite()) return;
    await withTimeout(meet(who), settings.platform.after, TIMEOUT_MS, 'The visitor').catch((cause) =>
      fail('internal', 'The visitor is not known yet', cause),
    );
  };
};
