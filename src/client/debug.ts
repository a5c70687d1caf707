import type { BannerEvent } from './banner.ts';
import type { DeferredContext } from './deferred-context.ts';
import type { Notice } from './notices.ts';

export { createReportInvalid, validateOptions } from './options/validate-options.ts';
export { reportSecondClient } from './running-clients.ts';

/** Package version. A test compares it with `package.json`. */
export const SDK_VERSION = '0.1.0';

const eventText = ({ type, bannerId, placementId, buttonId }: BannerEvent): string =>
  `${type} of ${bannerId}${buttonId ? ` (${buttonId})` : ''} in ${placementId}`;
const listText = (events: readonly BannerEvent[]): string => events.map(eventText).join(', ');

/** Formats a notice as one line; `current` is the state of the mounted placements. */
export const noticeText = (notice: Notice, current: string): string => {
  switch (notice.type) {
    case 'synced': {
      const found = Object.entries(notice.banners).map(
        ([name, banner]) => `${name}: ${banner?.id ?? 'none'}`,
      );
      return `sync response: ${found.join(', ')}`;
    }
    case 'changed':
      return `banners changed: ${current}`;
    case 'shown':
      return `${notice.banner.placementId}: shown ${notice.banner.id} (${notice.from})`;
    case 'hidden':
      return `${notice.placementId}: hidden (${notice.reason})`;
    case 'tracked':
      return `${eventText(notice.event)} stored at ${new Date(notice.event.time).toISOString()}`;
    case 'delivered':
      return `delivered: ${listText(notice.events)}`;
    case 'rejected':
      return `${eventText(notice.event)} rejected, attempt ${notice.attempts}: ${notice.reason}`;
    case 'in-doubt':
      return `no readable response, outcome unknown: ${listText(notice.events)}`;
    case 'dropped':
      return `${eventText(notice.event)} dropped (${notice.reason})${notice.detail ? `: ${notice.detail}` : ''}`;
    case 'paused':
      return `${notice.reason}: sending is paused until ${new Date(notice.untilMs).toISOString()}`;
    case 'memory-mode':
      return notice.on
        ? `storage unavailable, events are kept in memory: ${notice.reason}`
        : 'storage available again';
    case 'consent':
      return `consent ${notice.state}`;
    case 'failed':
      return `failed (${notice.kind}): ${notice.message}`;
  }
};

const WARNINGS: Notice['type'][] = ['failed', 'dropped', 'in-doubt', 'rejected'];

/** Logs the client's version and mounted placements to the console, then each notice until the returned function is called. */
export const printNotices = (
  context: Pick<
    DeferredContext,
    'settings' | 'permission' | 'cache' | 'requested' | 'subscribe' | 'buffered' | 'endBuffer'
  >,
): (() => void) => {
  const { settings, permission, cache, requested, subscribe, buffered, endBuffer } = context;
  const id = permission.userId();
  const who = permission.mayAct() ? (id === null ? 'no user' : `user ${id}`) : 'no consent';
  const current = (): string =>
    [...requested.placements].map((id) => `${id} (${cache.current(id)?.id ?? 'empty'})`).join(', ') ||
    'nothing';
  let last = current();
  console.info(
    `[placard] hello: version ${SDK_VERSION}, app ${settings.appId} at ${settings.endpoint}, ${who}; mounted: ${last}`,
  );
  const print = (notice: Notice): void => {
    if (notice.type === 'changed') {
      // The notice means only that something may have changed.
      if (current() === last) return;
      last = current();
    }
    const text = `[placard] ${noticeText(notice, last)}`;
    const cause = notice.type === 'failed' && notice.cause !== undefined ? [notice.cause] : [];
    if (WARNINGS.includes(notice.type)) console.warn(text, ...cause);
    else console.info(text);
  };
  endBuffer?.();
  for (const notice of buffered) print(notice);
  return subscribe(print);
};
