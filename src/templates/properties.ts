import { LIMITS, THEMES } from './content.ts';

/** How a property is edited: the wire's type, and for a string whether it is a line, a text, a link or a choice. */
export interface TemplateProperty {
  name: string;
  type: 'string' | 'boolean' | 'image' | 'datetime';
  input: 'line' | 'text' | 'link' | 'choice' | 'switch' | 'image' | 'moment';
  label: string;
  help: string;
  /** Characters that are drawn; the rest is cut with an ellipsis. */
  most?: number;
  choices?: readonly string[];
}

/** Everything the ready-made templates read. All are optional; a banner with no headline, body or image is refused. */
export const TEMPLATE_PROPERTIES = [
  {
    name: 'headline',
    type: 'string',
    input: 'line',
    label: 'Headline',
    help: 'One line that says it all.',
    most: LIMITS.headline,
  },
  {
    name: 'body',
    type: 'string',
    input: 'text',
    label: 'Body',
    help: 'A sentence or two under the headline.',
    most: LIMITS.body,
  },
  {
    name: 'button_text',
    type: 'string',
    input: 'line',
    label: 'Button text',
    help: 'Without it the headline itself is the link.',
    most: LIMITS.button_text,
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
    most: LIMITS.image_alt,
  },
  {
    name: 'image_dark',
    type: 'image',
    input: 'image',
    label: 'Image on a dark page',
    help: 'In place of the image where the banner is dark.',
  },
  {
    name: 'image_widths',
    type: 'string',
    input: 'link',
    label: 'Image in other widths',
    help: 'Such as /a-640.jpg 640w, /a-1280.jpg 1280w: a browser takes the one that fits.',
  },
  {
    name: 'second_button_text',
    type: 'string',
    input: 'line',
    label: 'Second button',
    help: 'Of the template choice. It needs a link of its own.',
    most: LIMITS.second_button_text,
  },
  {
    name: 'second_link',
    type: 'string',
    input: 'link',
    label: 'Link of the second button',
    help: 'Of the template choice.',
  },
  {
    name: 'countdown_to',
    type: 'datetime',
    input: 'moment',
    label: 'Counts down to',
    help: 'Of the template countdown.',
  },
  {
    name: 'countdown_end',
    type: 'string',
    input: 'line',
    label: 'Text at the end of the countdown',
    help: 'Stands there once the time is over.',
    most: LIMITS.countdown_end,
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
    help: 'Shows a close button. On by default, but for hero.',
  },
  {
    name: 'dismiss_text',
    type: 'string',
    input: 'line',
    label: 'Name of the close button',
    help: 'Read by screen readers. “Dismiss” by default.',
    most: LIMITS.dismiss_text,
  },
] as const satisfies readonly TemplateProperty[];

/** Names of the properties that templates read. */
export type TemplatePropertyName = (typeof TEMPLATE_PROPERTIES)[number]['name'];
