import { afterEach, describe, expect, test, vi } from 'vitest';
import { hero } from '../../src/templates/index.ts';
import { drawnIn, getBanner, recordingSlot } from '../helpers/template-slot.ts';

afterEach(() => {
  vi.restoreAllMocks();
  document.body.replaceChildren();
  document.documentElement.removeAttribute('style');
});

const draw = (values: Parameters<typeof getBanner>[0], scheme = '', theme = 'auto') => {
  const { slot, calls } = recordingSlot();
  vi.spyOn(globalThis, 'getComputedStyle').mockReturnValue({ colorScheme: scheme } as CSSStyleDeclaration);
  hero(getBanner({ headline: 'Hi', image: '/day.jpg', theme, ...values }), slot);
  const panel = drawnIn(slot.element);
  return { calls, img: panel.querySelector('img')!, source: panel.querySelector('source') };
};

describe('the dark variant of an image', () => {
  const night = { image_dark: { type: 'image', value: '/night.jpg' } };

  test('follows the user’s preference if the page supports both schemes', () => {
    const { img, source } = draw(night, 'light dark');
    expect(img.getAttribute('src')).toBe('/day.jpg');
    expect(source!.getAttribute('media')).toBe('(prefers-color-scheme: dark)');
    expect(source!.getAttribute('srcset')).toBe('/night.jpg');
  });

  test.each([
    ['dark', 'auto', '/night.jpg'],
    ['light dark', 'dark', '/night.jpg'],
    ['light dark', 'light', '/day.jpg'],
    ['light dark', 'accent', '/day.jpg'],
    ['normal', 'auto', '/day.jpg'],
  ])('on a page of the scheme %s, in the theme %s, is %s', (scheme, theme, url) => {
    const { img, source } = draw(night, scheme, theme);
    expect(img.getAttribute('src')).toBe(url);
    expect(source).toBeNull();
  });
});

describe('widths', () => {
  test('are the candidates with a safe URL', () => {
    const { img } = draw({
      image_widths: '/a-640.jpg 640w, javascript:alert(1) 700w, /b.jpg, /c.jpg 2x,  /a-1280.jpg 1280w',
    });
    expect(img.getAttribute('srcset')).toBe('/a-640.jpg 640w, /a-1280.jpg 1280w');
    expect(img.getAttribute('sizes')).toMatch(/^\d+px$/);
  });

  test('are empty for an invalid value', () => {
    const { img } = draw({ image_widths: 'nonsense' });
    expect(img.hasAttribute('srcset')).toBe(false);
    expect(img.hasAttribute('sizes')).toBe(false);
  });
});

test('gives only the first image in view of a page a high fetch priority', () => {
  const another = document.implementation.createHTMLDocument();
  const inDocument = (top: number) => {
    const { slot } = recordingSlot();
    another.body.append(slot.element);
    Object.defineProperty(slot.element.ownerDocument, 'defaultView', {
      value: {
        innerHeight: 700,
        CSSStyleSheet,
        customElements,
        HTMLElement,
        addEventListener: () => undefined,
      },
      configurable: true,
    });
    vi.spyOn(slot.element, 'getBoundingClientRect').mockReturnValue({ top, bottom: top + 100 } as DOMRect);
    hero(getBanner({ headline: 'Hi', image: '/a.jpg' }), slot);
    return drawnIn(slot.element).querySelector('img')!.getAttribute('fetchpriority');
  };
  expect([inDocument(900), inDocument(100), inDocument(200)]).toEqual([null, 'high', null]);
});
