import { PREVIEW_PARAMETER, PREVIEW_PATH, type PreviewAnswer } from '../../protocol/index.ts';
import { focusOn, isFocus } from '../banners/overlay.ts';
import { createReadBanners } from '../banners/read-banners.ts';
import type { LoadChunk } from '../chunks.ts';
import type { LateContext } from '../late-context.ts';
import { parseJson, readRefused } from '../platform/http.ts';

/** The token of a preview link, taken out of the page's address: it is in no history, and no reload shows it again. */
const takeToken = (): string | null => {
  if (!globalThis.location) return null;
  const address = new URL(location.href);
  const [found, token] = new RegExp(`[#?&]${PREVIEW_PARAMETER}=([^&]*)`).exec(address.hash) ?? [];
  if (!found || !token) return null;
  address.hash = address.hash.replace(found, '');
  history.replaceState(history.state, '', address);
  return token;
};

/** Shows what a preview link is for; a later one takes the place of an earlier one, and `stop()` of all. */
export const createPreview = (context: LateContext, loadChunk: LoadChunk) => {
  let end: () => void = () => undefined;
  // Of a banner that is only looked at nothing is stored.
  context.cache.takeEvents(({ type, bannerId, placementId }) => {
    if (type === 'dismiss' && isFocus(bannerId)) context.cache.overlay.delete(placementId);
    return isFocus(bannerId);
  });
  /** The token of the latest link, until the page stops. */
  let latest: string | undefined;

  const ask = async (token: string): Promise<PreviewAnswer | string> => {
    const answer = await context.post(PREVIEW_PATH, { token });
    if (answer.status === 200) return parseJson(answer.text) as PreviewAnswer;
    return (
      readRefused(answer, context.settings.platform.now()).text ?? `the service answered ${answer.status}`
    );
  };

  const show = async (token: string): Promise<void> => {
    latest = token;
    const { showPreview } = await loadChunk('preview');
    const answer = await ask(token).catch((cause) => String(cause));
    if (latest !== token) return;
    end();
    const readBanners = createReadBanners(context.fail);
    end = showPreview({ ...context, focusOn, isFocus, answer, readBanners });
  };

  return {
    show,
    /** Shows the preview that the page was opened for, if it was. */
    async start(): Promise<void> {
      const token = takeToken();
      if (token) await show(token);
    },
    stop(): void {
      latest = undefined;
      end();
    },
  };
};
