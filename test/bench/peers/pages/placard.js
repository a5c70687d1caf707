import { createPlacard } from '../../../../src/client/index.ts';

/** A click of the slot's banner is the event. Without a slot on the page nothing is ever seen, and nothing else counted. */
export const start = async ({ origin, collector }) => {
  const placard = createPlacard({
    endpoint: collector,
    apiKey: 'client-key',
    appId: 'shop',
    appVersion: '1.0',
    userId: `kim of ${origin}`,
  });
  const place = document.getElementById('slot') ?? document.createElement('div');
  placard.mount('hero', place, (banner, slot) => {
    slot.element.textContent = banner.id;
  });
  while (!placard.banner('hero')) await new Promise((resolve) => setTimeout(resolve, 5));
  const banner = placard.banner('hero');
  return {
    capture: () => placard.track(banner, 'click'),
    isDurable: 'promise',
    flush: () => placard.flush(),
  };
};
