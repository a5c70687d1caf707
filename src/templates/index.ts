import type { PlacementHook } from '../client/index.ts';
import { CARD } from './card.ts';
import { HERO } from './hero.ts';
import { STRIP } from './strip.ts';
import { createTemplate, type Look, type TemplateOptions } from './template.ts';

export type { Navigate } from './follow-link.ts';
export {
  TEMPLATE_PROPERTIES,
  type TemplateProperty,
  type TemplatePropertyName,
  type Theme,
} from './properties.ts';
export type { TemplateOptions };

/** A new template is its file and a line here; the rest follows. */
const LOOKS = { strip: STRIP, card: CARD, hero: HERO } satisfies Record<string, Look>;

/** The ready-made templates. */
export type TemplateName = keyof typeof LOOKS;
/** A placement hook for each template. */
export type Templates = Record<TemplateName, PlacementHook>;

/** The templates as placement hooks, with the host's own navigation and words. */
export const createTemplates = (options: TemplateOptions = {}): Templates =>
  Object.fromEntries(
    Object.entries(LOOKS).map(([name, look]) => [name, createTemplate(name, look, options)]),
  ) as Templates;

/** The templates as they come: `placard.mount('home_hero', element, hero)`. */
export const { strip, card, hero } = createTemplates();
