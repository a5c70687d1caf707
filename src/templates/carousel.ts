import { buildElement } from './build-element.ts';
import { CARD } from './card.ts';
import { type TemplateEntry, text } from './catalogue.ts';
import { type Content, LIMITS, ownValue, readContent } from './content.ts';
import { frameProperties, MESSAGE_NEEDED, messageProperties, type TemplateProperty } from './properties.ts';
import type { RenderInput, TemplateDefinition } from './template.ts';

/** Property suffixes of the slides after the first. */
const ENDINGS = ['_2', '_3', '_4'] as const;

const hasSlide = (banner: RenderInput['banner'], ending: string): boolean =>
  MESSAGE_NEEDED.some((name) => ['string', 'image'].some((type) => ownValue(banner, name + ending, type)));

/**
 * Arranges slides in a list with scroll snapping, navigated by touch, wheel, arrow keys and two buttons. The carousel never moves
 * by itself, so it needs no pause button.
 */
const arrange: TemplateDefinition['arrange'] = (messages, { slot, options }) => {
  const { previousLabel = 'Previous', nextLabel = 'Next' } = options;
  const document = slot.element.ownerDocument;
  const view = document.defaultView;
  const slides = messages.map(({ element }) => element);
  const list = buildElement(document, 'ul', { class: 'slides', tabindex: '0' }, slides);
  const place = buildElement(document, 'span', { class: 'place', role: 'status' });
  const shown = () => {
    const { left } = list.getBoundingClientRect();
    const distances = slides.map((slide) => Math.abs(slide.getBoundingClientRect().left - left));
    return distances.indexOf(Math.min(...distances));
  };
  const go = (step: number) => {
    const from = slides[shown()];
    const to = slides[shown() + step];
    if (!from || !to) return;
    const isCalm = view?.matchMedia?.('(prefers-reduced-motion: reduce)').matches ?? false;
    const left = to.getBoundingClientRect().left - from.getBoundingClientRect().left;
    list.scrollBy({ left, behavior: isCalm ? 'auto' : 'smooth' });
  };
  const button = (label: string, step: number) => {
    const made = buildElement(document, 'button', { type: 'button', class: 'step', 'aria-label': label }, [
      step < 0 ? '‹' : '›',
    ]);
    made.addEventListener('click', () => go(step), { signal: slot.signal });
    return made;
  };
  const [previous, next] = [button(previousLabel, -1), button(nextLabel, 1)];
  const update = () => {
    const at = shown();
    const words = `${at + 1} / ${slides.length}`;
    if (place.textContent !== words) place.textContent = words;
    // Not `disabled`, because the button would lose focus at the last slide.
    previous.setAttribute('aria-disabled', String(at === 0));
    next.setAttribute('aria-disabled', String(at === slides.length - 1));
  };
  list.addEventListener('scroll', update, { signal: slot.signal, passive: true });
  update();
  const steps = buildElement(document, 'div', { class: 'steps' }, [previous, place, next]);
  return buildElement(document, 'section', { class: 'carousel', 'aria-roledescription': 'carousel' }, [
    list,
    slides.length > 1 ? steps : null,
  ]);
};

/** Up to four cards side by side, one visible at a time. */
export const CAROUSEL: TemplateDefinition = {
  base: CARD,
  dismissible: true,
  further: (banner, slot): Content[] =>
    ENDINGS.filter((ending) => hasSlide(banner, ending)).map((ending) =>
      readContent(banner, slot, { dismissible: true }, ending),
    ),
  arrange,
  css: /* css */ `
.carousel { display: flex; flex-direction: column; }
.slides {
  display: flex;
  flex: 1 1 auto;
  min-block-size: 0;
  margin: 0;
  padding: 0;
  list-style: none;
  overflow: auto hidden;
  overscroll-behavior-inline: contain;
  scroll-snap-type: x mandatory;
  scrollbar-width: none;
}
.slides:focus-visible { outline: 2px solid var(--focus); outline-offset: -4px; }
.slides > .card { position: relative; flex: 0 0 100%; min-inline-size: 0; scroll-snap-align: start; scroll-snap-stop: always; }
.steps { display: flex; align-items: center; justify-content: center; gap: var(--space); padding-block-end: 0.5rem; }
.place { font-size: 0.875rem; font-variant-numeric: tabular-nums; }
.step { all: unset; display: grid; place-items: center; inline-size: 2.75rem; block-size: 2.75rem; font-size: 1.5rem; cursor: pointer; }
.step:focus-visible { outline: 2px solid var(--focus); outline-offset: -2px; border-radius: var(--radius); }
.step[aria-disabled="true"] { opacity: 0.35; cursor: default; }
.carousel:dir(rtl) .step { transform: scaleX(-1); }
.carousel > .dismiss { --under-dismiss: var(--surface); position: absolute; inset-block-start: 0.5rem; inset-inline-end: 0.5rem; margin: -0.375rem; }
`,
};

const slideProperties = <Ending extends (typeof ENDINGS)[number]>(ending: Ending, label: string) => {
  const named = <Name extends string>(name: Name) => `${name}${ending}` as const;
  return [
    {
      name: named('headline'),
      type: 'string',
      input: 'line',
      label: `Headline, ${label}`,
      help: 'Omitted without a headline, body or image.',
      most: LIMITS.headline,
      translation: 'needed',
      isPersonal: true,
    },
    {
      name: named('body'),
      type: 'string',
      input: 'text',
      label: `Body, ${label}`,
      help: 'One or two sentences.',
      most: LIMITS.body,
      translation: 'needed',
      isPersonal: true,
    },
    {
      name: named('button_text'),
      type: 'string',
      input: 'line',
      label: `Button text, ${label}`,
      help: 'If empty, the headline is the link.',
      most: LIMITS.button_text,
      translation: 'needed',
      isPersonal: true,
    },
    {
      name: named('link'),
      type: 'string',
      input: 'link',
      label: `Link, ${label}`,
      help: 'https, http, mailto, tel, or a path on your site.',
    },
    {
      name: named('image'),
      type: 'image',
      input: 'image',
      label: `Image, ${label}`,
      help: 'https or http.',
    },
    {
      name: named('image_alt'),
      type: 'string',
      input: 'line',
      label: `Image description, ${label}`,
      help: 'For screen readers.',
      most: LIMITS.image_alt,
      translation: 'needed',
    },
  ] as const satisfies readonly TemplateProperty[];
};

export const carouselEntry = () =>
  ({
    name: 'carousel',
    label: 'Carousel',
    properties: [
      ...messageProperties(),
      ...slideProperties('_2', 'slide 2'),
      ...slideProperties('_3', 'slide 3'),
      ...slideProperties('_4', 'slide 4'),
      ...frameProperties(),
    ],
    needed: MESSAGE_NEEDED,
    width: 420,
    heights: { narrow: '25rem', wide: '25rem' },
    imageRatio: [16, 10],
    starters: [
      {
        name: 'Carousel',
        summary: 'Up to four messages side by side, each with its own image and link.',
        properties: () => ({
          headline: text('New this week'),
          button_text: text('See all'),
          link: text('/'),
          headline_2: text('Back in stock'),
          button_text_2: text('View list'),
          link_2: text('/'),
          headline_3: text('Last chance'),
          button_text_3: text('Shop sale'),
          link_3: text('/'),
        }),
      },
    ],
  }) as const satisfies TemplateEntry;
