import { TEMPLATE_PROPERTIES, type TemplateProperty } from '../../src/templates/index.ts';
import { attributeHint } from './attribute-hint.ts';
import type { PropertyText } from './campaign-text.ts';

/** `www.example.com/x`, `example.com`: a browser takes it for a path. */
const HOST = /^(?:www\.|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:[/?#]|$))/i;
/** What looks like a host and is a file: `sale.html`. */
const FILE = /^[\w-]+\.(?:html?|php|aspx?|jsp|pdf|svg|png|jpe?g|gif|webp|avif)(?:[?#]|$)/i;
const MAIL = /^[^\s/?#:@]+@[^\s/?#:@]+$/;

const addressHint = (value: string): string | null => {
  const address = value.trim();
  if (MAIL.test(address)) return `A mail address begins with mailto: as in mailto:${address}`;
  if (!HOST.test(address) || FILE.test(address)) return null;
  return `This is a path of your own site. For another site write https://${address}`;
};

const lengthHint = (text: string, most: number): string | null => {
  const characters = Array.from(text).length;
  if (characters <= most) return null;
  return `${characters} characters: the templates draw the first ${most} and cut the rest.`;
};

export interface HintContext {
  /** The property as the visitor reads it; `undefined` where there is no preview. */
  rendered: unknown;
  /** Known names of custom attributes. */
  own: readonly string[];
}

/** What the service takes and who wrote it may not have meant, in a sentence; `null` where nothing catches the eye. */
export const propertyHint = (
  name: string,
  { value }: PropertyText,
  { rendered, own }: HintContext,
): string | null => {
  const property: TemplateProperty | undefined = TEMPLATE_PROPERTIES.find((each) => each.name === name);
  const drawn = typeof rendered === 'string' ? rendered : value;
  const unknown = attributeHint(typeof value === 'string' ? value : JSON.stringify(value), own);
  if (unknown !== null || typeof drawn !== 'string') return unknown;
  if (property?.input === 'link' || property?.input === 'image') return addressHint(drawn);
  return property?.most === undefined ? null : lengthHint(drawn, property.most);
};
