import type { Slot } from '../client/index.ts';
import { buildElement } from './build-element.ts';
import type { Content } from './content.ts';

export interface RenderedImage {
  box: HTMLElement;
  /** Resolves when the image has loaded. Rejects if it fails. */
  loaded: Promise<void>;
}

/** Documents whose first visible image was requested with high priority. */
const prioritised = new WeakSet<Document>();

/** Returns `high` for the first visible image of a page, which is most often the LCP element. */
const getPriority = (element: HTMLElement): string | null => {
  const { ownerDocument } = element;
  const { top, bottom } = element.getBoundingClientRect();
  const height = ownerDocument.defaultView?.innerHeight ?? 0;
  if (prioritised.has(ownerDocument) || bottom < 0 || top > height) return null;
  prioritised.add(ownerDocument);
  return 'high';
};

/** Returns the color scheme of the banner. `auto`: by the user's preference, if the page has both schemes. */
const getColorScheme = (element: HTMLElement, theme: Content['theme']): 'dark' | 'auto' | 'light' => {
  const { colorScheme = '' } = getComputedStyle(element);
  if (theme === 'dark' || (theme === 'auto' && colorScheme === 'dark')) return 'dark';
  return theme === 'auto' && colorScheme.includes('light') && colorScheme.includes('dark') ? 'auto' : 'light';
};

/** Renders the image in a box of fixed size, so that loading or failing causes no layout shift. */
export const renderImage = (slot: Slot, image: string, content: Content): RenderedImage => {
  const { element, signal } = slot;
  const { imageAlt, imageDark, imageWidths, theme } = content;
  const document = element.ownerDocument;
  const scheme = imageDark === null ? 'light' : getColorScheme(element, theme);
  const url = scheme === 'dark' ? imageDark! : image;
  const widths = scheme === 'dark' ? null : imageWidths;
  const img = buildElement(document, 'img', {
    alt: imageAlt,
    decoding: 'async',
    draggable: 'false',
    fetchpriority: getPriority(element),
    // The banner is at most as wide as its slot.
    sizes: widths && `${element.clientWidth || 1_280}px`,
    srcset: widths,
  });
  const loaded = new Promise<void>((resolve, reject) => {
    img.addEventListener('load', () => resolve(), { signal });
    img.addEventListener(
      'error',
      () => {
        // Keeps the empty box, to avoid a layout shift.
        img.remove();
        reject(new Error(`The image ${url} cannot be loaded`));
      },
      { signal },
    );
  });
  const source =
    scheme === 'auto' &&
    buildElement(document, 'source', { media: '(prefers-color-scheme: dark)', srcset: imageDark });
  const shown = source ? buildElement(document, 'picture', {}, [source, img]) : img;
  // Set last, because it starts loading.
  img.src = url;
  return { box: buildElement(document, 'div', { class: 'image' }, [shown]), loaded };
};
