import type { PlacementHook } from '../client/index.ts';
import { CARD, cardEntry } from './card.ts';
import { CAROUSEL, carouselEntry } from './carousel.ts';
import { type TemplateEntry, uniqueProperties } from './catalogue.ts';
import { CHOICE, choiceEntry } from './choice.ts';
import { COUNTDOWN, countdownEntry } from './countdown.ts';
import { HERO, heroEntry } from './hero.ts';
import type { TemplateProperty } from './properties.ts';
import { STRIP, stripEntry } from './strip.ts';
import { createTemplate, type Template, type TemplateOptions } from './template.ts';

export type { TemplateStarter } from './catalogue.ts';
export type { Theme } from './content.ts';
export type { Navigate } from './follow-link.ts';
export type { Template, TemplateEntry, TemplateOptions, TemplateProperty };

// To add a template, add its file, an export here, and an entry in the two lists below. The compiler checks the second list. Each
// call is marked as pure, so that bundlers drop unused templates.

/** Horizontal strip: thumbnail, headline, short text and button. */
export const strip: Template = /* @__PURE__ */ createTemplate('strip', STRIP);
/** Upright card for a column or grid. */
export const card: Template = /* @__PURE__ */ createTemplate('card', CARD);
/** Large banner with text next to the image. */
export const hero: Template = /* @__PURE__ */ createTemplate('hero', HERO);
/** Card with a countdown to `countdown_to`, which then shows `countdown_ended_text`. */
export const countdown: Template = /* @__PURE__ */ createTemplate('card countdown', COUNTDOWN);
/** Card with two buttons, each with its own link. */
export const choice: Template = /* @__PURE__ */ createTemplate('card choice', CHOICE);
/** Up to four cards side by side, each with its own image and link. Never moves by itself. */
export const carousel: Template = /* @__PURE__ */ createTemplate('card', CAROUSEL);

/** Built-in templates of `<placard-banner>`. */
export type TemplateName = 'strip' | 'card' | 'hero';
/** Placement hooks by template name. */
export type Templates = Record<TemplateName, PlacementHook>;

/**
 * Creates the built-in templates with options, such as navigation and labels. For a single template, use `hero.with(options)`.
 */
export const createTemplates = (options: TemplateOptions = {}): Templates => ({
  strip: strip.with(options),
  card: card.with(options),
  hero: hero.with(options),
});

const createCatalogue = () =>
  [heroEntry(), cardEntry(), stripEntry(), countdownEntry(), choiceEntry(), carouselEntry()] as const;

/** All templates in display order, with their properties, sizes and starters. */
export const TEMPLATE_CATALOGUE: readonly TemplateEntry<CatalogueName>[] = /* @__PURE__ */ createCatalogue();

type Entry = ReturnType<typeof createCatalogue>[number];
/** Template names of the catalogue. */
export type CatalogueName = Entry['name'];
/** Property names of all templates. */
export type TemplatePropertyName = Entry['properties'][number]['name'];

/** Distinct properties of all templates. All are optional, but a banner without a headline, body or image is invalid. */
export const TEMPLATE_PROPERTIES: readonly TemplateProperty<TemplatePropertyName>[] =
  /* @__PURE__ */ uniqueProperties(createCatalogue);

/** Placement hooks of all templates, by name. */
export const TEMPLATES: Readonly<Record<CatalogueName, Template>> = {
  strip,
  card,
  hero,
  countdown,
  choice,
  carousel,
};
