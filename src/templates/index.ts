import type { PlacementHook } from '../client/index.ts';
import { CARD } from './card.ts';
import { CHOICE } from './choice.ts';
import { COUNTDOWN } from './countdown.ts';
import { HERO } from './hero.ts';
import { STRIP } from './strip.ts';
import { createTemplate, type Template, type TemplateOptions } from './template.ts';

export type { Theme } from './content.ts';
export type { Navigate } from './follow-link.ts';
export {
  TEMPLATE_PROPERTIES,
  type TemplateProperty,
  type TemplatePropertyName,
} from './properties.ts';
export type { Template, TemplateOptions };

// A new template is its file and a line here. Each call is marked as pure: a bundler leaves out what an application does not import.

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
