// The tree that a server renders and a browser hydrates, in React and in Vue: the same functions run in both.
import { createElement } from 'react';
import { createSSRApp, h } from 'vue';
import type { Banner, BannerBootstrap, Placard, Slot } from '../../../src/client/index.ts';
import { PlacardProvider, Placement as ReactPlacement, useBanner } from '../../../src/react/index.ts';
import { providePlacard, Placement as VuePlacement } from '../../../src/vue/index.ts';

export const APP_ID = 'rendered-page';

interface Given {
  placard: Placard | null;
  bootstrap: BannerBootstrap;
}

const href = (slot: Slot) => slot.safeUrl('/sale', 'link') ?? undefined;
const headline = (banner: Banner) => String(banner.properties['headline']?.value);

const Known = () => createElement('p', { id: 'known' }, useBanner('home_hero')?.id ?? 'none');

export const reactPage = ({ placard, bootstrap }: Given) =>
  createElement(
    PlacardProvider,
    { placard, bootstrap },
    createElement(Known),
    ['home_hero', 'held_out', 'gone'].map((placementId) =>
      createElement(ReactPlacement, {
        key: placementId,
        placementId,
        id: placementId,
        style: { minHeight: 100 },
        render: (banner, slot) =>
          createElement('a', { href: href(slot), onClick: () => void slot.click() }, headline(banner)),
      }),
    ),
  );

const drawn = ({ banner, slot }: { banner: Banner; slot: Slot }) =>
  h('a', { href: href(slot), onClick: () => void slot.click() }, headline(banner));

export const vuePage = ({ placard, bootstrap }: Given) => {
  const app = createSSRApp(() => [
    ...['home_hero', 'held_out', 'gone'].map((placementId) =>
      h(VuePlacement, { placementId, id: placementId, style: 'min-height:100px' }, { default: drawn }),
    ),
  ]);
  providePlacard(placard, app, bootstrap);
  return app;
};
