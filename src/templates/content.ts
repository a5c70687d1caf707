import type { Banner, Slot } from '../client/index.ts';

export const THEMES = ['auto', 'light', 'dark', 'accent'] as const;
/** The colours of a banner. `auto` follows the page. */
export type Theme = (typeof THEMES)[number];

/** The content of a template: checked, bounded, and with URLs that are safe to use. `null` for a part that is missing. */
export interface Content {
  headline: string | null;
  body: string | null;
  buttonText: string | null;
  link: string | null;
  /** A second button, where it has both its text and its link. */
  second: { buttonText: string; link: string } | null;
  image: string | null;
  imageAlt: string;
  /** Where the banner is dark. */
  imageDark: string | null;
  /** The same image in other widths, as a `srcset` has them. */
  imageWidths: string | null;
  theme: Theme;
  dismissible: boolean;
  dismissText: string | null;
  /** Of the words, as BCP 47 has it; `null` where the service does not say. */
  language: string | null;
}

/** Characters of each text that are drawn; the rest is cut with an ellipsis. Not in `properties.ts`, whose words for editors no page needs. */
export const LIMITS = {
  headline: 160,
  body: 480,
  button_text: 60,
  image_alt: 300,
  second_button_text: 60,
  countdown_end: 160,
  dismiss_text: 60,
};
const DEFAULT_LIMIT = 2_000;

/** Cut by code points, so that no half of a surrogate pair is left, and before any trimming: it may be megabytes. */
const bounded = (text: string, most: number): string => {
  const head = Array.from(text.slice(0, most * 2 + 2));
  const cut = text.length > most * 2 + 2 || head.length > most;
  const kept = head.slice(0, most).join('').trim();
  return cut && kept !== '' ? `${kept}…` : kept;
};

/** The property's value where it has the declared type, else `null`; own members only, so `__proto__` is no property. */
export const ownValue = (banner: Banner, name: string, type: string): unknown => {
  if (!Object.hasOwn(banner.properties, name)) return null;
  const property = banner.properties[name];
  return property?.type === type ? property.value : null;
};

/** A text as it is drawn, with at most `most` characters; `null` where there is none. */
export const textOf = (banner: Banner, name: string, most = DEFAULT_LIMIT): string | null => {
  const value = ownValue(banner, name, 'string');
  if (typeof value !== 'string') return null;
  return bounded(value, most) || null;
};

/** Candidates of a `srcset`. */
const MAX_WIDTHS = 10;

/** `/a-640.jpg 640w, /a-1280.jpg 1280w` with those URLs that are safe; `null` where there is none. */
const widthsOf = (banner: Banner, slot: Pick<Slot, 'safeUrl'>, ending: string): string | null =>
  (textOf(banner, `image_widths${ending}`) ?? '')
    .split(/,\s+/, MAX_WIDTHS)
    .flatMap((candidate) => {
      const [, url, width] = /^(\S+)\s+(\d{1,5}w)$/.exec(candidate.trim()) ?? [];
      const safe = url === undefined ? null : slot.safeUrl(url, 'image');
      return safe === null ? [] : [`${safe} ${width}`];
    })
    .join(', ') || null;

/**
 * Reads a banner for a template. Throws where there is nothing to draw: an empty box must not count as seen. `ending` is what the names of
 * a further message of the banner end in: `_2`.
 */
export const readContent = (
  banner: Banner,
  slot: Pick<Slot, 'safeUrl'>,
  defaults: { dismissible: boolean },
  ending = '',
): Content => {
  const own = (name: keyof typeof LIMITS) => textOf(banner, name + ending, LIMITS[name]);
  const linkOf = (name: 'link' | 'second_link') => {
    const link = ownValue(banner, name + ending, 'string');
    return link === null || link === '' ? null : slot.safeUrl(link, 'link');
  };
  // Set by hand it may be a string.
  const imageOf = (name: 'image' | 'image_dark') => {
    const image = ownValue(banner, name + ending, 'image') ?? ownValue(banner, name + ending, 'string');
    return image === null || image === '' ? null : slot.safeUrl(image, 'image');
  };
  const [secondText, secondLink] = [own('second_button_text'), linkOf('second_link')];
  const theme = textOf(banner, 'theme');
  const dismissible = ownValue(banner, 'dismissible', 'boolean');
  const content: Content = {
    headline: own('headline'),
    body: own('body'),
    buttonText: own('button_text'),
    link: linkOf('link'),
    second: secondText !== null && secondLink !== null ? { buttonText: secondText, link: secondLink } : null,
    image: imageOf('image'),
    imageDark: imageOf('image_dark'),
    imageWidths: widthsOf(banner, slot, ending),
    imageAlt: own('image_alt') ?? '',
    theme: THEMES.find((name) => name === theme) ?? 'auto',
    dismissible: typeof dismissible === 'boolean' ? dismissible : defaults.dismissible,
    dismissText: textOf(banner, 'dismiss_text', LIMITS.dismiss_text),
    language: textOf(banner, 'language'),
  };
  if (content.headline === null && content.body === null && content.image === null) {
    throw new Error(`Banner ${banner.id} has no headline, body or image that a template could draw`);
  }
  return content;
};
