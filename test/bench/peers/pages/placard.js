import { createPlacard } from '../../../../src/client/index.ts';

/** The shop's slot is in view all the time; a click of its banner is the event. */
export const start = async ({ origin, collector }) => {
  const placard = createPlacard({
    endpoint: collector,
    apiKey: 'client-key',
    appId: 'shop',
    appVersion: '1.0',
    userId: `kim of ${origin}`,
  });
  placard.mount('hero', document.getElementById('slot'), (banner, slot) => {
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
