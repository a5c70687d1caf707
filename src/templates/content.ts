import type { Banner, Slot } from '../client/index.ts';

export const THEMES = ['auto', 'light', 'dark', 'accent'] as const;
/** Color theme of a banner. `auto` follows the page. */
export type Theme = (typeof THEMES)[number];

/** Content of a template, validated, with limited lengths and safe URLs. `null` for missing parts. */
export interface Content {
  headline: string | null;
  body: string | null;
  buttonText: string | null;
  link: string | null;
  /** Property of the link, such as `link_2`. */
  linkProperty: string;
  /** Second button, if it has both text and link. */
  second: { buttonText: string; link: string; linkProperty: string } | null;
  image: string | null;
  imageAlt: string;
  /** Image for dark mode. */
  imageDark: string | null;
  /** Other widths of the image, in `srcset` syntax. */
  imageWidths: string | null;
  theme: Theme;
  dismissible: boolean;
  dismissText: string | null;
  /** BCP 47 language tag of the text; `null` if unknown. */
  language: string | null;
}

/**
 * Maximum number of characters of each text. Longer text is truncated with an ellipsis. Not in `properties.ts`, because pages do
 * not need its editor texts.
 */
export const LIMITS = {
  headline: 160,
  body: 480,
  button_text: 60,
  image_alt: 300,
  secondary_button_text: 60,
  countdown_ended_text: 160,
  dismiss_label: 60,
};
const DEFAULT_LIMIT = 2_000;

/**
 * Truncates a text by code points, to keep surrogate pairs whole. Truncates before trimming, because the text may have megabytes.
 */
const bounded = (text: string, most: number): string => {
  const head = Array.from(text.slice(0, most * 2 + 2));
  const cut = text.length > most * 2 + 2 || head.length > most;
  const kept = head.slice(0, most).join('').trim();
  return cut && kept !== '' ? `${kept}…` : kept;
};

/**
 * Returns the value of a property; `null` if it does not have the declared type. Reads only own properties, so that `__proto__`
 * is ignored.
 */
export const ownValue = (banner: Banner, name: string, type: string): unknown => {
  if (!Object.hasOwn(banner.properties, name)) return null;
  const property = banner.properties[name];
  return property?.type === type ? property.value : null;
};

/** Returns a text, truncated to `most` characters; `null` if missing. */
export const getText = (banner: Banner, name: string, most = DEFAULT_LIMIT): string | null => {
  const value = ownValue(banner, name, 'string');
  if (typeof value !== 'string') return null;
  return bounded(value, most) || null;
};

/** Maximum number of candidates of a `srcset`. */
const MAX_WIDTHS = 10;

/** Returns a `srcset` such as `/a-640.jpg 640w, /a-1280.jpg 1280w` with the safe URLs; `null` if none. */
const formatSrcset = (banner: Banner, slot: Pick<Slot, 'safeUrl'>, ending: string): string | null =>
  (getText(banner, `image_widths${ending}`) ?? '')
    .split(/,\s+/, MAX_WIDTHS)
    .flatMap((candidate) => {
      const [, url, width] = /^(\S+)\s+(\d{1,5}w)$/.exec(candidate.trim()) ?? [];
      const safe = url === undefined ? null : slot.safeUrl(url, 'image');
      return safe === null ? [] : [`${safe} ${width}`];
    })
    .join(', ') || null;

/**
 * Reads the content of a banner. Throws if there is nothing to render, because an empty box must not count as an impression.
 * `ending` is the property suffix of a further message, such as `_2`.
 */
export const readContent = (
  banner: Banner,
  slot: Pick<Slot, 'safeUrl'>,
  defaults: { dismissible: boolean },
  ending = '',
): Content => {
  const own = (name: keyof typeof LIMITS) => getText(banner, name + ending, LIMITS[name]);
  const getLink = (name: 'link' | 'secondary_link') => {
    const link = ownValue(banner, name + ending, 'string');
    return link === null || link === '' ? null : slot.safeUrl(link, 'link');
  };
  // An image property may be a string if set manually.
  const getImage = (name: 'image' | 'image_dark') => {
    const image = ownValue(banner, name + ending, 'image') ?? ownValue(banner, name + ending, 'string');
    return image === null || image === '' ? null : slot.safeUrl(image, 'image');
  };
  const [secondText, secondLink] = [own('secondary_button_text'), getLink('secondary_link')];
  const theme = getText(banner, 'theme');
  const dismissible = ownValue(banner, 'dismissible', 'boolean');
  const content: Content = {
    headline: own('headline'),
    body: own('body'),
    buttonText: own('button_text'),
    link: getLink('link'),
    linkProperty: `link${ending}`,
    second:
      secondText !== null && secondLink !== null
        ? { buttonText: secondText, link: secondLink, linkProperty: `secondary_link${ending}` }
        : null,
    image: getImage('image'),
    imageDark: getImage('image_dark'),
    imageWidths: formatSrcset(banner, slot, ending),
    imageAlt: own('image_alt') ?? '',
    theme: THEMES.find((name) => name === theme) ?? 'auto',
    dismissible: typeof dismissible === 'boolean' ? dismissible : defaults.dismissible,
    dismissText: getText(banner, 'dismiss_label', LIMITS.dismiss_label),
    language: getText(banner, 'language'),
  };
  if (content.headline === null && content.body === null && content.image === null) {
    throw new Error(`Banner ${banner.id} has no headline, body or image to render`);
  }
  return content;
};
