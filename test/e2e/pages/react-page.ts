import { createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { PlacardProvider, Placement, useBanner } from '../../../src/react/index.ts';
import { strip } from '../../../src/templates/index.ts';
import { createLocalPlacard } from './local-placard.ts';

const { placard, told } = createLocalPlacard('react-page');
Reflect.set(window, 'told', told);

const Known = () => {
  const banner = useBanner('home_hero');
  return createElement('p', { id: 'known' }, banner ? `known: ${banner.id}` : 'not known');
};

/** The same placement for two breakpoints, one of them hidden, as on pages with two layouts. */
const Page = () =>
  createElement(
    PlacardProvider,
    { placard },
    createElement(Known),
    createElement(Placement, { placementId: 'home_hero', hook: strip, id: 'wide' }),
    createElement(
      'div',
      { hidden: true },
      createElement(Placement, { placementId: 'home_hero', hook: strip, id: 'narrow' }),
    ),
    createElement(Placement, {
      placementId: 'drawn_in_react',
      id: 'own',
      render: (banner, slot) =>
        createElement(
          'button',
          { type: 'button', onClick: () => void slot.dismiss() },
          `Hide ${banner.properties['headline']?.value}`,
        ),
    }),
  );

createRoot(document.querySelector('#root')!).render(createElement(StrictMode, {}, createElement(Page)));
