import { within } from '@testing-library/dom';
import { afterEach, describe, expect, test } from 'vitest';
import * as templates from '../../src/templates/index.ts';
import { card, createTemplates, hero, strip } from '../../src/templates/index.ts';
import { drawnIn, getBanner, recordingSlot } from '../helpers/template-slot.ts';

const SALE = {
  headline: 'Autumn linen',
  body: 'Washed, cut to order.',
  button_text: 'See the linen',
  link: 'https://shop.example/linen',
  image: 'https://cdn.example/linen.jpg',
  image_alt: 'Folded linen on a bench',
};

afterEach(() => document.body.replaceChildren());

test('exports each template by its name', () => {
  for (const name of Object.keys(createTemplates()))
    expect(templates).toHaveProperty(name, expect.any(Function));
});

describe.each([
  ['strip', strip],
  ['card', card],
  ['hero', hero],
])('the %s', (_, template) => {
  test('renders a region labeled by its headline, with its text, its image and one link', () => {
    const { slot } = recordingSlot();
    template(getBanner(SALE), slot);
    const panel = drawnIn(slot.element);
    expect(panel.tagName).toBe('SECTION');
    expect(panel.getAttribute('aria-label')).toBe('Autumn linen');
    const view = within(panel);
    view.getByText('Autumn linen');
    view.getByText('Washed, cut to order.');
    expect(view.getByRole('img', { name: 'Folded linen on a bench' })).toHaveProperty(
      'src',
      'https://cdn.example/linen.jpg',
    );
    expect(view.getAllByRole('link').map((link) => [link.textContent, link.getAttribute('href')])).toEqual([
      ['See the linen', 'https://shop.example/linen'],
    ]);
  });

  test('makes the headline the link if there is no button text', () => {
    const { slot } = recordingSlot();
    template(getBanner({ headline: 'Autumn linen', link: '/linen' }), slot);
    within(drawnIn(slot.element)).getByRole('link', { name: 'Autumn linen' });
  });

  test('renders an image-only banner as a link labeled by its description', () => {
    const { slot } = recordingSlot();
    template(getBanner({ image: '/linen.jpg', image_alt: 'Autumn linen', link: '/linen' }), slot);
    const panel = drawnIn(slot.element);
    within(panel).getByRole('link', { name: 'Autumn linen' });
    expect(panel.getAttribute('aria-label')).toBe('Promotion');
    expect(within(panel).queryByRole('img')).toBeNull();
  });

  test('exposes the description of an unlinked image once, on the image', () => {
    const { slot } = recordingSlot();
    template(getBanner({ image: '/linen.jpg', image_alt: 'Autumn linen' }), slot);
    const panel = drawnIn(slot.element);
    within(panel).getByRole('img', { name: 'Autumn linen' });
    expect(panel.getAttribute('aria-label')).toBe('Promotion');
  });

  test('hides an image without a description from screen readers', () => {
    const { slot } = recordingSlot();
    template(getBanner({ headline: 'Autumn linen', image: '/linen.jpg' }), slot);
    expect(within(drawnIn(slot.element)).queryByRole('img')).toBeNull();
  });

  const imageIn = (element: HTMLElement) => within(drawnIn(element)).getByRole('img');

  test('keeps the box of an image that fails to load, without a layout shift, and reports the failure', async () => {
    const { slot, calls } = recordingSlot();
    template(getBanner(SALE), slot);
    const panel = drawnIn(slot.element);
    imageIn(slot.element).dispatchEvent(new Event('error'));
    expect(panel.querySelector('.image')).not.toBeNull();
    expect(panel.querySelector('img')).toBeNull();
    await expect
      .poll(() => calls)
      .toContainEqual(expect.stringMatching(/^report image: .*linen\.jpg cannot be loaded$/));
    within(panel).getByText('Washed, cut to order.');
  });

  test('does not report an image that fails after its banner was removed', async () => {
    const { slot, calls, controller } = recordingSlot();
    template(getBanner(SALE), slot);
    const image = imageIn(slot.element);
    controller.abort();
    image.dispatchEvent(new Event('error'));
    await Promise.resolve();
    expect(calls).toEqual(['safeUrl link', 'safeUrl image']);
  });

  const ALONE = { image: 'https://cdn.example/linen.jpg', image_alt: 'Folded linen' };

  test('marks an image-only banner as busy until the image loads, and then counts it as seen', async () => {
    const { slot } = recordingSlot();
    const drawn = template(getBanner(ALONE), slot) as unknown as PromiseLike<void>;
    expect(slot.element.getAttribute('aria-busy')).toBe('true');
    imageIn(slot.element).dispatchEvent(new Event('load'));
    await drawn;
    expect(slot.element.hasAttribute('aria-busy')).toBe(false);
  });

  test('reports an image-only banner as failed if its image fails', async () => {
    const { slot } = recordingSlot();
    const drawn = template(getBanner(ALONE), slot) as unknown as PromiseLike<void>;
    imageIn(slot.element).dispatchEvent(new Event('error'));
    await expect(Promise.resolve(drawn)).rejects.toThrow('linen.jpg cannot be loaded');
    expect(slot.element.hasAttribute('aria-busy')).toBe(false);
  });

  test('clears the busy state of a slot whose image never loaded once the banner is removed', () => {
    const { slot, controller } = recordingSlot();
    template(getBanner(ALONE), slot);
    controller.abort();
    expect(slot.element.hasAttribute('aria-busy')).toBe(false);
  });

  test('does not render a link or a button if the link was rejected', () => {
    const { slot } = recordingSlot();
    template(getBanner({ ...SALE, link: 'javascript:alert(1)' }), slot);
    const view = within(drawnIn(slot.element));
    expect(view.queryByRole('link')).toBeNull();
    expect(view.queryByText('See the linen')).toBeNull();
    view.getByText('Autumn linen');
  });

  test('checks every URL it uses with the slot', () => {
    const { slot, calls } = recordingSlot();
    template(getBanner(SALE), slot);
    expect(calls).toEqual(['safeUrl link', 'safeUrl image']);
  });

  test('rejects a banner without content to render, and does not leave nodes behind', () => {
    const { slot } = recordingSlot();
    expect(() => template(getBanner({ button_text: 'Go', link: '/x' }), slot)).toThrow(
      'Banner bnr_1 has no headline, body or image',
    );
    expect(slot.element.childNodes).toHaveLength(0);
  });

  test('removes only its own nodes in the cleanup', () => {
    const { slot } = recordingSlot();
    slot.element.append('of the host');
    const cleanup = template(getBanner(SALE), slot);
    expect(slot.element.childNodes).toHaveLength(2);
    (cleanup as () => void)();
    expect(slot.element.textContent).toBe('of the host');
    expect(slot.element.childNodes).toHaveLength(1);
  });

  test('does not write style attributes, style elements or event attributes', () => {
    const { slot } = recordingSlot();
    template(getBanner({ ...SALE, dismissible: true }), slot);
    const root = slot.element.querySelector('placard-frame')!.shadowRoot!;
    const all = [...root.querySelectorAll('*')];
    expect(all.filter((node) => node.hasAttribute('style') || node.tagName === 'STYLE')).toEqual([]);
    expect(all.flatMap((node) => node.getAttributeNames()).filter((name) => name.startsWith('on'))).toEqual(
      [],
    );
    expect(root.adoptedStyleSheets).toHaveLength(2);
  });
});

describe('the close button', () => {
  test.each([
    ['strip', strip, true],
    ['card', card, true],
    ['hero', hero, false],
  ])('of a %s is shown by default: %o', (_, template, there) => {
    const { slot } = recordingSlot();
    template(getBanner(SALE), slot);
    expect(within(drawnIn(slot.element)).queryByRole('button', { name: 'Dismiss' }) !== null).toBe(there);
  });

  test('is shown or hidden by `dismissible`, and labeled by `dismiss_label`', () => {
    const first = recordingSlot();
    strip(getBanner({ ...SALE, dismissible: false }), first.slot);
    expect(within(drawnIn(first.slot.element)).queryByRole('button')).toBeNull();
    const second = recordingSlot();
    hero(getBanner({ ...SALE, dismissible: true, dismiss_label: 'Fermer' }), second.slot);
    within(drawnIn(second.slot.element)).getByRole('button', { name: 'Fermer' });
  });

  test('dismisses once per press', () => {
    const { slot, calls } = recordingSlot();
    strip(getBanner({ headline: 'Autumn linen' }), slot);
    within(drawnIn(slot.element)).getByRole('button', { name: 'Dismiss' }).click();
    expect(calls).toEqual(['dismiss']);
  });

  test('moves focus to the slot, and restores the slot when focus moves on', () => {
    const { slot } = recordingSlot();
    strip(getBanner({ headline: 'Autumn linen' }), slot);
    const button = within(drawnIn(slot.element)).getByRole('button', { name: 'Dismiss' });
    button.focus();
    button.click();
    expect(document.activeElement).toBe(slot.element);
    slot.element.blur();
    expect(slot.element.hasAttribute('tabindex')).toBe(false);
  });

  test('does not move focus from elsewhere on the page', () => {
    const { slot } = recordingSlot();
    const search = document.createElement('input');
    document.body.append(search);
    strip(getBanner({ headline: 'Autumn linen' }), slot);
    search.focus();
    within(drawnIn(slot.element)).getByRole('button', { name: 'Dismiss' }).click();
    expect(document.activeElement).toBe(search);
  });
});

describe('options', () => {
  test('label the close button and a region without a headline in the host’s language', () => {
    const templates = createTemplates({ dismissLabel: 'Schließen', regionLabel: 'Werbung' });
    const { slot } = recordingSlot();
    templates.strip(getBanner({ body: 'Nur heute.' }), slot);
    const panel = drawnIn(slot.element);
    expect(panel.getAttribute('aria-label')).toBe('Werbung');
    within(panel).getByRole('button', { name: 'Schließen' });
  });
});
