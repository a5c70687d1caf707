/** How a property is edited: the wire's type, and for a string whether it is a line, a text, a link or a choice. */
export interface TemplateProperty {
  name: string;
  type: 'string' | 'boolean' | 'image';
  input: 'line' | 'text' | 'link' | 'choice' | 'switch' | 'image';
  label: string;
  help: string;
  /** Characters that are drawn; the rest is cut with an ellipsis. */
  most?: number;
  choices?: readonly string[];
}

export const THEMES = ['auto', 'light', 'dark', 'accent'] as const;
/** The colours of a banner. `auto` follows the page. */
export type Theme = (typeof THEMES)[number];

/** Everything the ready-made templates read. All are optional; a banner with no headline, body or image is refused. */
export const TEMPLATE_PROPERTIES = [
  {
    name: 'headline',
    type: 'string',
    input: 'line',
    label: 'Headline',
    help: 'One line that says it all.',
    most: 160,
  },
  {
    name: 'body',
    type: 'string',
    input: 'text',
    label: 'Body',
    help: 'A sentence or two under the headline.',
    most: 480,
  },
  {
    name: 'button_text',
    type: 'string',
    input: 'line',
    label: 'Button text',
    help: 'Without it the headline itself is the link.',
    most: 60,
  },
  {
    name: 'link',
    type: 'string',
    input: 'link',
    label: 'Link',
    help: 'https, http, mailto, tel, or a path of your own site.',
  },
  {
    name: 'image',
    type: 'image',
    input: 'image',
    label: 'Image',
    help: 'https or http. Cropped to the box of the template, never stretched.',
  },
  {
    name: 'image_alt',
    type: 'string',
    input: 'line',
    label: 'Image description',
    help: 'For people who cannot see the image. Empty where it is only decoration.',
    most: 300,
  },
  {
    name: 'theme',
    type: 'string',
    input: 'choice',
    label: 'Theme',
    help: 'Auto follows the page.',
    choices: THEMES,
  },
  {
    name: 'dismissible',
    type: 'boolean',
    input: 'switch',
    label: 'Can be dismissed',
    help: 'Shows a close button. On by default for strip and card, off for hero.',
  },
  {
    name: 'dismiss_text',
    type: 'string',
    input: 'line',
    label: 'Name of the close button',
    help: 'Read by screen readers. “Dismiss” by default.',
    most: 60,
  },
] as const satisfies readonly TemplateProperty[];

/** Names of the properties that templates read. */
export type TemplatePropertyName = (typeof TEMPLATE_PROPERTIES)[number]['name'];
