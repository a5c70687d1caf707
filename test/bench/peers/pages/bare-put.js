import { createStore, set } from 'idb-keyval';

/** The floor: each event is one IndexedDB put in a transaction of its own. */
export const start = async () => {
  const store = createStore('bare-put', 'events');
  return {
    capture: (marker) => set(marker, { type: 'click', bannerId: 'banner', time: Date.now() }, store),
    isDurable: 'promise',
  };
};
