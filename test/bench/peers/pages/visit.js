import { createPlacard } from '../../../../src/client/index.ts';

/** An ordinary visit: a banner is shown, viewed and clicked, on the first visit dismissed, and all events are delivered. */
export const visit = async ({ collector, isFirst }) => {
  const notices = [];
  let onNotice = () => undefined;
  const heard = async (type, count) => {
    while (notices.filter((notice) => notice.type === type).length < count)
      await new Promise((resolve) => {
        onNotice = resolve;
      });
  };
  const placard = createPlacard({
    endpoint: collector,
    apiKey: 'client-key',
    appId: 'shop',
    appVersion: '1.0',
    userId: 'kim',
  });
  placard.subscribe((notice) => {
    notices.push(notice);
    onNotice();
  });
  const slots = [];
  for (const name of ['hero', 'side'])
    placard.mount(name, document.getElementById(name), (banner, slot) => {
      const button = document.createElement('button');
      button.textContent = banner.properties.title.value;
      button.onclick = () => slot.click('title');
      slot.element.append(button);
      slots.push(slot);
    });
  await heard('synced', 1);
  // An impression counts once a session.
  if (isFirst) await heard('tracked', 2);
  const clicked = notices.filter(({ type }) => type === 'tracked').length + 1;
  document.querySelector('#hero button').click();
  await heard('tracked', clicked);
  if (isFirst) await slots.find((slot) => slot.element.id === 'side').dismiss();
  await placard.flush();
  // Left to the exit flush.
  document.querySelector('#hero button').click();
  await heard('tracked', clicked + (isFirst ? 2 : 1));
  Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
  document.dispatchEvent(new Event('visibilitychange'));
  await heard('delivered', 2);
};
