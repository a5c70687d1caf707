import { createStore, get, set } from 'idb-keyval';

/** The floor: a page that reads one entry of IndexedDB and paints it. */
export const start = async () => {
  const store = createStore('bare', 'entries');
  const text = await get('text', store);
  if (text === undefined) await set('text', 'banner-of-hero', store);
  document.getElementById('slot').textContent = text ?? 'stored now';
};
