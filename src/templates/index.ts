import type { PlacementHook } from '../client/index.ts';
import { CARD } from './card.ts';
import { HERO } from './hero.ts';
import { STRIP } from './strip.ts';
import { createTemplate, type TemplateOptions } from './template.ts';

export type { Navigate } from './follow-link.ts';
export {
  TEMPLATE_PROPERTIES,
  type TemplateProperty,
  type TemplatePropertyName,
  type Theme,
} from './properties.ts';
export type { TemplateOptions };

/** The ready-made templates. */
export type TemplateName = 'strip' | 'card' | 'hero';
/** A placement hook for each template. */
export type Templates = Record<TemplateName, PlacementHook>;

/** The three templates as placement hooks, with the host's own navigation and words. */
export const createTemplates = (options: TemplateOptions = {}): Templates => ({
  strip: createTemplate(STRIP, options),
  card: createTemplate(CARD, options),
  hero: createTemplate(HERO, options),
});

/** The templates as they come: `placard.mount('home_hero', element, hero)`. */
export const { strip, card, hero } = createTemplates();
