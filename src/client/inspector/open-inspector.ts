import { PREVIEW_PARAMETER, PREVIEW_PATH } from '../../protocol/index.ts';
import type { SyncScheduler } from '../banners/sync-scheduler.ts';
import type { DeferredContext } from '../deferred-context.ts';
import type { Notice } from '../notices.ts';
import type { Impressions } from '../placements/impressions.ts';
import type { Inspection, Inspector } from './inspector.ts';

/** Maximum number of notices kept for the inspector. */
const MAX_RECENT = 50;
/** Notices that are not kept, because there may be thousands in one task, and counters and slots show the same information. */
const LEFT_OUT: Notice['type'][] = ['tracked', 'changed', 'shown', 'hidden'];

/**
 * Returns whether to keep a notice. Errors of hooks are excluded too, because an error's stack retains detached nodes of the
 * page.
 */
const isKept = (notice: Notice): boolean =>
  !LEFT_OUT.includes(notice.type) && !(notice.type === 'failed' && notice.kind === 'hook');

/** Returns the token of a preview link and removes it from the page's URL, so that history and reload do not contain it. */
const takePreviewToken = (): string | null => {
  if (!globalThis.location) return null;
  const address = new URL(location.href);
  const [found, token] = new RegExp(`[#?&]${PREVIEW_PARAMETER}=([^&]*)`).exec(address.hash) ?? [];
  if (!found || !token) return null;
  address.hash = address.hash.replace(found, '');
  history.replaceState(history.state, '', address);
  return token;
};

/** Parts that the inspector reads. */
interface Parts {
  scheduler: SyncScheduler;
  impressions: Impressions;
}

/** Creates the loader of the inspector, which records notices until the inspector is loaded. */
export const createOpenInspector = (
  context: DeferredContext,
  loadInspector: () => Promise<typeof import('./inspector.ts')>,
) => {
  const { settings, subscribe } = context;
  const recent: Inspection['recent'] = [];
  const unsubscribe = subscribe((notice) => {
    if (isKept(notice)) recent.push({ at: settings.platform.now(), notice });
    if (recent.length > MAX_RECENT) recent.shift();
  });
  let opened: ReturnType<typeof import('./inspector.ts').createInspector> | undefined;

  // The path is not shared with the inspector, because some bundlers create a separate file for a constant that two deferred
  // chunks share.
  const requestPreview = (token: string) => context.post(PREVIEW_PATH, { token });
  const open = async (parts: Parts): Promise<Inspector> => {
    const { createInspector } = await loadInspector();
    const sync = await parts.scheduler.trouble();
    opened ??= createInspector({ ...context, ...parts, sync, recent, requestPreview });
    return opened.inspector;
  };

  return {
    open,
    /** Shows the preview if the page was opened by a preview link. */
    async start(parts: Parts): Promise<void> {
      const token = takePreviewToken();
      if (token) await (await open(parts)).preview(token);
    },
    stop(): void {
      unsubscribe();
      opened?.stop();
    },
  };
};
