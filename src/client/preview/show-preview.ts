import type { PreviewAnswer } from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';
import type { FocusVerbs } from '../banners/overlay.ts';
import type { LateContext } from '../late-context.ts';

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

/** A bar at the foot of the page that says what is previewed, and ends it. Needs no exception from the page's policy. */
export const showPreviewBar = (text: string, onEnd: () => void): (() => void) => {
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
  // After it is in the page, so that it is read out.
  words.textContent = text;
  return () => host.remove();
};

/** Given and not imported: a module that two late chunks share breaks on pages that extend `Object.prototype`. */
interface ShowPreviewOptions
  extends FocusVerbs,
    Pick<LateContext, 'user' | 'cache' | 'placements' | 'requested' | 'subscribe'> {
  /** The service's answer to the token, or its words for why there is none. */
  answer: PreviewAnswer | string;
  readBanners: (placements: string[], sent: Record<string, unknown>) => Map<string, Banner | null>;
}

/** Draws the banners of a preview link through the host's own hooks, in memory only, under a bar that says so and ends it. */
export const showPreview = (options: ShowPreviewOptions): (() => void) => {
  const { answer, user, cache, placements, requested, subscribe, focusOn, isFocus } = options;
  const shown = typeof answer === 'string' ? [] : Object.entries(answer.banners);
  const banners = [
    ...options.readBanners(
      shown.map(([id]) => id),
      Object.fromEntries(shown),
    ),
  ];

  const redraw = (): void => {
    cache.show();
    placements.considerAll(true);
  };
  const put = (): void => {
    for (const [placementId, banner] of banners) if (banner) cache.overlay.set(placementId, focusOn(banner));
    redraw();
  };
  // What stands in front goes with each user.
  let userId = user.id();
  const unsubscribe = subscribe(() => {
    if (user.id() === userId) return;
    userId = user.id();
    put();
  });

  const end = (): void => {
    unsubscribe();
    hideBar();
    for (const [placementId] of banners) {
      const front = cache.overlay.get(placementId);
      if (front && isFocus(front.id)) cache.overlay.delete(placementId);
    }
    redraw();
  };
  const names = banners.map(([placementId]) => placementId);
  const isHere = names.some((placementId) => requested.placements.has(placementId));
  const where = isHere
    ? 'It is not stored, and nothing of it is counted.'
    : 'This page has no such placement.';
  const hideBar = showPreviewBar(
    typeof answer === 'string'
      ? `No preview: ${answer}`
      : `Preview of “${answer.campaign_name}” in ${names.join(', ')}. ${where}`,
    end,
  );
  put();
  return end;
};
