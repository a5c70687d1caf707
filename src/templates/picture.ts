import { buildElement } from './build-element.ts';
import type { Content } from './content.ts';

/**
 * The image in a box whose size does not depend on it: nothing moves when it arrives, or when it never does.
 */
export const picture = (document: Document, content: Content, signal: AbortSignal): HTMLElement | null => {
  if (content.image === null) return null;
  const image = buildElement(document, 'img', {
    alt: content.imageAlt,
    decoding: 'async',
    draggable: 'false',
  });
  const box = buildElement(document, 'div', { class: 'picture' }, [image]);
  // A broken image is hidden from people and from screen readers alike; its box stays.
  image.addEventListener('error', () => image.setAttribute('hidden', ''), { signal });
  image.src = content.image;
  return box;
};
