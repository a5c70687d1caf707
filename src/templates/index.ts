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

// A new template is its file, and here an export and its place in the two lists at the end; the compiler asks for the second one. Each
// call is marked as pure: a bundler leaves out what an application does not import.

/** A strip across the page: a thumbnail, a headline over a few words, a button. */
export const strip: Template = /* @__PURE__ */ createTemplate('strip', STRIP);
/** An upright card for a column or a grid. */
export const card: Template = /* @__PURE__ */ createTemplate('card', CARD);
/** The large one. */
export const hero: Template = /* @__PURE__ */ createTemplate('hero', HERO);
/** A card that counts down to `countdown_to`, and says `countdown_end` then. */
export const countdown: Template = /* @__PURE__ */ createTemplate('card countdown', COUNTDOWN);
/** A card with two buttons, each with its own link. */
export const choice: Template = /* @__PURE__ */ createTemplate('card choice', CHOICE);
/** Up to four cards side by side, each with its own picture and link. It never moves by itself. */
export const carousel: Template = /* @__PURE__ */ createTemplate('card', CAROUSEL);

/** The templates that `<placard-banner>` knows by itself. */
export type TemplateName = 'strip' | 'card' | 'hero';
/** A placement hook for each of them. */
export type Templates = Record<TemplateName, PlacementHook>;

/** These three with the host's own navigation and words; `hero.with(options)` makes one of them. */
export const createTemplates = (options: TemplateOptions = {}): Templates => ({
  strip: strip.with(options),
  card: card.with(options),
  hero: hero.with(options),
});

const createCatalogue = () =>
  [heroEntry(), cardEntry(), stripEntry(), countdownEntry(), choiceEntry(), carouselEntry()] as const;

/** Every template, in the order in which editors offer them: its properties, sizes and messages to begin from. */
export const TEMPLATE_CATALOGUE: readonly TemplateEntry<CatalogueName>[] = /* @__PURE__ */ createCatalogue();

type Entry = ReturnType<typeof createCatalogue>[number];
/** Names of the templates of the catalogue. */
export type CatalogueName = Entry['name'];
/** Names of the properties that templates read. */
export type TemplatePropertyName = Entry['properties'][number]['name'];

/** Everything the ready-made templates read, each once. All are optional; a banner with no headline, body or image is refused. */
export const TEMPLATE_PROPERTIES: readonly TemplateProperty<TemplatePropertyName>[] =
  /* @__PURE__ */ uniqueProperties(createCatalogue);

/** A placement hook for each template of the catalogue. */
export const TEMPLATES: Readonly<Record<CatalogueName, Template>> = {
  strip,
  card,
  hero,
  countdown,
  choice,
  carousel,
};
