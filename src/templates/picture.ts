import type { Slot } from '../client/index.ts';
import { buildElement } from './build-element.ts';
import type { Content } from './content.ts';

export interface Picture {
  box: HTMLElement;
  /** Resolves when the image is there, rejects where it cannot be loaded. */
  loaded: Promise<void>;
}

/** Pages whose first image in view has been asked for ahead of others. */
const prioritised = new WeakSet<Document>();

/** The first image of the page that is in view when it is drawn is most often the largest thing that the reader waits for. */
const priorityOf = (element: HTMLElement): string | null => {
  const { ownerDocument } = element;
  const { top, bottom } = element.getBoundingClientRect();
  const height = ownerDocument.defaultView?.innerHeight ?? 0;
  if (prioritised.has(ownerDocument) || bottom < 0 || top > height) return null;
  prioritised.add(ownerDocument);
  return 'high';
};

/** Whether the banner is dark where it stands: for good, with the reader's settings, or never, as on a page that has no dark form. */
const darkness = (element: HTMLElement, theme: Content['theme']): 'always' | 'asked' | 'never' => {
  const { colorScheme = '' } = getComputedStyle(element);
  if (theme === 'dark' || (theme === 'auto' && colorScheme === 'dark')) return 'always';
  return theme === 'auto' && colorScheme.includes('light') && colorScheme.includes('dark')
    ? 'asked'
    : 'never';
};

/** The image in a box whose size does not depend on it: nothing moves when it arrives, or when it turns out to be missing. */
export const picture = (slot: Slot, image: string, content: Content): Picture => {
  const { element, signal } = slot;
  const { imageAlt, imageDark, imageWidths, theme } = content;
  const document = element.ownerDocument;
  const dark = imageDark === null ? 'never' : darkness(element, theme);
  const url = dark === 'always' ? imageDark! : image;
  const widths = dark === 'always' ? null : imageWidths;
  const img = buildElement(document, 'img', {
    alt: imageAlt,
    decoding: 'async',
    draggable: 'false',
    fetchpriority: priorityOf(element),
    // The banner is as wide as its slot at most.
    sizes: widths && `${element.clientWidth || 1_280}px`,
    srcset: widths,
  });
  const loaded = new Promise<void>((resolve, reject) => {
    img.addEventListener('load', () => resolve(), { signal });
    img.addEventListener(
      'error',
      () => {
        // The empty box stays: words that took its room would move under the reader's eyes.
        img.remove();
        reject(new Error(`The image ${url} cannot be loaded`));
      },
      { signal },
    );
  });
  const source =
    dark === 'asked' &&
    buildElement(document, 'source', { media: '(prefers-color-scheme: dark)', srcset: imageDark });
  const shown = source ? buildElement(document, 'picture', {}, [source, img]) : img;
  // Last of all: from here on it loads.
  img.src = url;
  return { box: buildElement(document, 'div', { class: 'picture' }, [shown]), loaded };
};
