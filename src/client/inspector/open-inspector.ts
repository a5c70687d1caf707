import { PREVIEW_PARAMETER, PREVIEW_PATH } from '../../protocol/index.ts';
import type { Updates } from '../banners/updates.ts';
import type { LoadChunk } from '../chunks.ts';
import type { LateContext } from '../late-context.ts';
import type { Notice } from '../notices.ts';
import type { Impressions } from '../placements/impressions.ts';
import type { Inspection, Inspector } from './inspector.ts';

/** So many notices are kept for the inspector until it is opened. */
const MAX_RECENT = 50;
/** Notices that are not kept: there may be thousands in one task, and the counters and the slots show the same. */
const LEFT_OUT: Notice['type'][] = ['tracked', 'changed', 'shown', 'emptied'];

/** What a hook has thrown is left out as well: the stack of an error keeps the nodes of a page that are gone. */
const isKept = (notice: Notice): boolean =>
  !LEFT_OUT.includes(notice.type) && !(notice.type === 'failed' && notice.kind === 'hook');

/** The token of a preview link, taken out of the page's address: it is in no history, and no reload shows it again. */
const takePreviewToken = (): string | null => {
  if (!globalThis.location) return null;
  const address = new URL(location.href);
  const [found, token] = new RegExp(`[#?&]${PREVIEW_PARAMETER}=([^&]*)`).exec(address.hash) ?? [];
  if (!found || !token) return null;
  address.hash = address.hash.replace(found, '');
  history.replaceState(history.state, '', address);
  return token;
};

/** The parts that the inspector asks. */
interface Parts {
  updates: Updates;
  impressions: Impressions;
}

/** What the page does for the inspector before that is loaded. */
export const createOpenInspector = (context: LateContext, loadChunk: LoadChunk) => {
  const { settings, subscribe } = context;
  const recent: Inspection['recent'] = [];
  const unsubscribe = subscribe((notice) => {
    if (isKept(notice)) recent.push({ at: settings.platform.now(), notice });
    if (recent.length > MAX_RECENT) recent.shift();
  });
  let inspector: Promise<Inspector> | undefined;
  let end: () => void = () => undefined;

  // The path is named here: a constant that two late chunks share is a file of its own in some bundlers.
  const askForPreview = (token: string) => context.post(PREVIEW_PATH, { token });
  const load = async (parts: Parts): Promise<Inspector> => {
    const { createInspector } = await loadChunk('inspector');
    const { stop, ...made } = createInspector({ ...context, ...parts, recent, askForPreview });
    end = stop;
    return made;
  };
  /** A load that failed is tried again. */
  const open = (parts: Parts): Promise<Inspector> => {
    inspector ??= load(parts).catch((cause) => {
      inspector = undefined;
      throw cause;
    });
    return inspector;
  };

  return {
    open,
    /** Shows the preview that the page was opened for, if it was. */
    async start(parts: Parts): Promise<void> {
      const token = takePreviewToken();
      if (token) await (await open(parts)).preview(token);
    },
    stop(): void {
      unsubscribe();
      end();
    },
  };
};
