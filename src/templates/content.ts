import type { Banner, Slot } from '../client/index.ts';
import { TEMPLATE_PROPERTIES, type TemplatePropertyName, THEMES, type Theme } from './properties.ts';

/** The content of a template: checked, bounded, and with URLs that are safe to use. `null` for a part that is missing. */
export interface Content {
  headline: string | null;
  body: string | null;
  buttonText: string | null;
  link: string | null;
  image: string | null;
  imageAlt: string;
  theme: Theme;
  dismissible: boolean;
  dismissText: string | null;
}

const LIMITS = new Map<string, number>(
  TEMPLATE_PROPERTIES.flatMap((property) => ('most' in property ? [[property.name, property.most]] : [])),
);
const DEFAULT_LIMIT = 2_000;

/** Cut by code points, so that no half of a surrogate pair is left, and before any trimming: it may be megabytes. */
const bounded = (text: string, most: number): string => {
  const head = Array.from(text.slice(0, most * 2 + 2));
  const cut = text.length > most * 2 + 2 || head.length > most;
  const kept = head.slice(0, most).join('').trim();
  return cut && kept !== '' ? `${kept}…` : kept;
};

/** The property's value where it has the declared type, else `null`; own members only, so `__proto__` is no property. */
const ownValue = (banner: Banner, name: TemplatePropertyName, type: string): unknown => {
  if (!Object.hasOwn(banner.properties, name)) return null;
  const property = banner.properties[name];
  return property?.type === type ? property.value : null;
};

const textOf = (banner: Banner, name: TemplatePropertyName): string | null => {
  const value = ownValue(banner, name, 'string');
  if (typeof value !== 'string') return null;
  return bounded(value, LIMITS.get(name) ?? DEFAULT_LIMIT) || null;
};

/** A link may have been set as a string, an image as an image or, by hand, as a string. */
const imageOf = (banner: Banner): unknown =>
  ownValue(banner, 'image', 'image') ?? ownValue(banner, 'image', 'string');

/**
 * Reads a banner for a template. Throws where there is nothing to draw: an empty box must not count as seen.
 */
export const readContent = (
  banner: Banner,
  slot: Pick<Slot, 'safeUrl'>,
  defaults: { dismissible: boolean },
): Content => {
  const link = ownValue(banner, 'link', 'string');
  const image = imageOf(banner);
  const theme = textOf(banner, 'theme');
  const dismissible = ownValue(banner, 'dismissible', 'boolean');
  const content: Content = {
    headline: textOf(banner, 'headline'),
    body: textOf(banner, 'body'),
    buttonText: textOf(banner, 'button_text'),
    link: link === null || link === '' ? null : slot.safeUrl(link, 'link'),
    image: image === null || image === '' ? null : slot.safeUrl(image, 'image'),
    imageAlt: textOf(banner, 'image_alt') ?? '',
    theme: THEMES.find((name) => name === theme) ?? 'auto',
    dismissible: typeof dismissible === 'boolean' ? dismissible : defaults.dismissible,
    dismissText: textOf(banner, 'dismiss_text'),
  };
  if (content.headline === null && content.body === null && content.image === null) {
    throw new Error(`Banner ${banner.id} has no headline, body or image that a template could draw`);
  }
  return content;
};
