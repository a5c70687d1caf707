import { createApp, h } from 'vue';
import type { Banner, Slot } from '../../../src/client/index.ts';
import { strip } from '../../../src/templates/index.ts';
import { Placement, providePlacard, useBanner } from '../../../src/vue/index.ts';
import { createLocalPlacard } from './local-placard.ts';

const { placard, told } = createLocalPlacard('vue-page');
Reflect.set(window, 'told', told);

const Known = {
  setup() {
    const banner = useBanner('home_hero');
    return () => h('p', { id: 'known' }, banner.value ? `known: ${banner.value.id}` : 'not known');
  },
};

const drawn = ({ banner, slot }: { banner: Banner; slot: Slot }) =>
  h(
    'button',
    { type: 'button', onClick: () => void slot.dismiss() },
    `Hide ${banner.properties['headline']?.value}`,
  );

/** The same placement for two breakpoints, one of them hidden, as on pages with two layouts. */
const app = createApp(() => [
  h(Known),
  h(Placement, { placementId: 'home_hero', hook: strip, id: 'wide' }),
  h('div', { hidden: true }, h(Placement, { placementId: 'home_hero', hook: strip, id: 'narrow' })),
  h(Placement, { placementId: 'drawn_in_vue', id: 'own' }, { default: drawn }),
]);
providePlacard(placard, app);
app.mount('#root');
