import type { PreviewResult } from '../../protocol/schemas/index.ts';
import type { DeferredContext } from '../deferred-context.ts';
import type { Overlay } from './overlay.ts';

const CSS = `
  :host { all: initial; position: fixed; inset: auto 0 0; z-index: 2147483647; color-scheme: only light }
  section {
    display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; justify-content: center; padding: 8px 16px;
    font: 15px/1.4 system-ui, sans-serif; color: #fff; background: #1f1f24; border-block-start: 3px solid #ffb224
  }
  p { margin: 0; overflow-wrap: anywhere }
  button {
    min-block-size: 44px; padding: 0 16px; font: inherit; font-weight: 600; color: #1f1f24; background: #fff;
    border: 0; border-radius: 6px; cursor: pointer
  }
  button:focus-visible { outline: 3px solid #ffb224; outline-offset: 2px }`;

/** Shows a bar at the bottom of the page that describes the preview and has a button to end it. Needs no CSP exception. */
const showPreviewBar = (text: string, onEnd: () => void): (() => void) => {
  const host = document.createElement('placard-preview');
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  root.adoptedStyleSheets = [sheet];
  const section = document.createElement('section');
  section.setAttribute('aria-label', 'Preview');
  const words = document.createElement('p');
  words.role = 'status';
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'End preview';
  button.addEventListener('click', onEnd);
  section.append(words, button);
  root.append(section);
  document.body.append(host);
  // Set after insertion, so that screen readers announce it.
  words.textContent = text;
  return () => host.remove();
};

interface PreviewOptions
  extends Pick<DeferredContext, 'permission' | 'requested' | 'subscribe' | 'readBanners'> {
  overlay: Overlay;
  requestPreview: (token: string) => ReturnType<DeferredContext['post']>;
}

/** Returns the draft of a link, or the reason that there is none. */
const readPreview = async (request: ReturnType<DeferredContext['post']>): Promise<PreviewResult | string> => {
  try {
    const { status, body } = await request;
    if (status === 200) return body as PreviewResult;
    return String(Object(body).message ?? `HTTP ${status}`);
  } catch (cause) {
    return Object(cause).message ?? String(cause);
  }
};

/** Renders the banners of a preview link with the host's hooks, in memory only, under a bar that describes and ends it. */
const showPreview = (options: PreviewOptions, result: PreviewResult | string): (() => void) => {
  const { permission, overlay, requested, subscribe, readBanners } = options;
  const sent = typeof result === 'string' ? {} : result.banners;
  const banners = [...readBanners(Object.keys(sent), sent)];

  const put = (): void => {
    for (const [placementId, banner] of banners) if (banner) overlay.focus(placementId, banner);
  };
  // A user change clears the overlay, so the preview is added again.
  let userId = permission.userId();
  const unsubscribe = subscribe(() => {
    if (permission.userId() === userId) return;
    userId = permission.userId();
    put();
  });

  const end = (): void => {
    unsubscribe();
    hideBar();
    for (const [placementId] of banners) overlay.focus(placementId, null);
  };
  const names = banners.map(([placementId]) => placementId);
  const isHere = names.some((placementId) => requested.placements.has(placementId));
  const where = isHere ? 'Not stored or counted.' : 'Not mounted on this page.';
  const hideBar = showPreviewBar(
    typeof result === 'string'
      ? `No preview: ${result}`
      : `Preview of “${result.campaign_name}” in ${names.join(', ')}. ${where}`,
    end,
  );
  put();
  return end;
};

/** Shows the preview of a link. A later preview replaces an earlier one, and `stop()` ends it. */
export const createPreview = (options: PreviewOptions) => {
  let end: () => void = () => undefined;
  let latest: string | undefined;
  return {
    async show(token: string): Promise<void> {
      latest = token;
      const result = await readPreview(options.requestPreview(token));
      if (options.permission.isStopped() || latest !== token) return;
      end();
      end = showPreview(options, result);
    },
    stop: (): void => end(),
  };
};
