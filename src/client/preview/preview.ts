import { PREVIEW_PATH, PREVIEW_QUERY, type PreviewAnswer } from '../../protocol/index.ts';
import { focusOn, isFocus } from '../banners/overlay.ts';
import { createReadBanners } from '../banners/read-banners.ts';
import type { LateContext } from '../late/late-context.ts';
import { createKeyring } from '../platform/keyring.ts';
import { createPostJson, parseJson } from '../platform/post-json.ts';
import { readRefused } from '../platform/refusal.ts';

const TIMEOUT_MS = 15_000;

/** The token of a preview link, taken out of the page's address: it is in no history, and no reload shows it again. */
export const takePreviewToken = (): string | null => {
  if (!globalThis.location?.search.includes(PREVIEW_QUERY)) return null;
  const address = new URL(location.href);
  const token = address.searchParams.get(PREVIEW_QUERY);
  address.searchParams.delete(PREVIEW_QUERY);
  history.replaceState(history.state, '', address);
  return token;
};

/** Shows what a preview link is for; a later one takes the place of an earlier one. */
export const createPreview = (context: LateContext) => {
  const { endpoint, apiKey, platform } = context.settings;
  let end: () => void = () => undefined;

  const ask = async (token: string): Promise<PreviewAnswer | string> => {
    const answer = await createPostJson(endpoint, platform.fetch)(PREVIEW_PATH, {
      body: JSON.stringify({ token }),
      key: await createKeyring(apiKey, platform.after).ask(),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (answer.status === 200) return parseJson(answer.text) as PreviewAnswer;
    return readRefused(answer, platform.now()).text ?? `the service answered ${answer.status}`;
  };

  return {
    async show(token: string): Promise<void> {
      const { showPreview } = await import('./show-preview.ts');
      end();
      end = await showPreview({
        ...context,
        focusOn,
        isFocus,
        ask: () => ask(token).catch((cause) => String(cause)),
        readBanners: createReadBanners(context.fail),
      });
    },
    stop: (): void => end(),
  };
};
