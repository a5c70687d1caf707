import type { Slot } from '../client/index.ts';
import { buildElement } from './build-element.ts';

export interface Picture {
  box: HTMLElement;
  /** Resolves when the image is there, rejects where it cannot be loaded. */
  loaded: Promise<void>;
}

/** The image in a box whose size does not depend on it: nothing moves when it arrives, or when it turns out to be missing. */
export const picture = ({ element, signal }: Slot, url: string, description: string): Picture => {
  const document = element.ownerDocument;
  const image = buildElement(document, 'img', { alt: description, decoding: 'async', draggable: 'false' });
  const loaded = new Promise<void>((resolve, reject) => {
    image.addEventListener('load', () => resolve(), { signal });
    image.addEventListener(
      'error',
      () => {
        // The empty box stays: words that took its room would move under the reader's eyes.
        image.remove();
        reject(new Error(`The image ${url} cannot be loaded`));
      },
      { signal },
    );
  });
  image.src = url;
  return { box: buildElement(document, 'div', { class: 'picture' }, [image]), loaded };
};
