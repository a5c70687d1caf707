import { createElement, lazy, type ReactNode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import type { Banner } from '../../../src/client/index.ts';
import { PlacardProvider, Placement, type RenderBanner } from '../../../src/react/index.ts';
import { createLocalPlacard } from './local-placard.ts';

const { placard, told } = createLocalPlacard('react-render-page');
Reflect.set(window, 'told', told);

const headline = (banner: Banner) => createElement('p', {}, String(banner.properties['headline']?.value));

type Hero = { default: (props: { banner: Banner }) => ReactNode };
/** A component whose chunk is pending until the test calls `load()`. */
const LazyHero = lazy(
  () =>
    new Promise<Hero>((resolve) => {
      Reflect.set(window, 'load', () => resolve({ default: ({ banner }) => headline(banner) }));
    }),
);

const renders: Record<string, RenderBanner> = {
  loaded: (banner) => createElement(LazyHero, { banner }),
  throwing: (banner) => createElement('p', {}, String(banner.properties['nope']!.value)),
  drawn: headline,
};

/** All of them in one boundary, as in routers, in boxes that the page provides. */
const Page = () =>
  createElement(
    Suspense,
    { fallback: 'The page is loading' },
    createElement('h1', {}, 'Shop'),
    Object.entries(renders).map(([placementId, render]) =>
      createElement(Placement, {
        key: placementId,
        placementId,
        id: placementId,
        render,
        style: { minHeight: 100 },
      }),
    ),
  );

createRoot(document.querySelector('#root')!).render(
  createElement(PlacardProvider, { placard }, createElement(Page)),
);
