import { LIMITS, THEMES } from './content.ts';

// The lists are functions, so that every bundler leaves out what a page does not call.

/** How a property is edited: the wire's type, and for a string whether it is a line, a text, a link or a choice. */
export interface TemplateProperty<Name extends string = string> {
  name: Name;
  type: 'string' | 'boolean' | 'image' | 'datetime';
  input: 'line' | 'text' | 'link' | 'widths' | 'choice' | 'switch' | 'image' | 'moment';
  label: string;
  help: string;
  /** Characters that are drawn; the rest is cut with an ellipsis. */
  most?: number;
  choices?: readonly string[];
  /** Whether each language needs its own: `needed` where readers read it, `never` where it is the same in all. Default: it may have one. */
  translation?: 'needed' | 'never';
  /** A text in which readers may find their own name. */
  isPersonal?: true;
  /** Few banners have it. */
  isRare?: true;
}

/** The message: what all templates draw. */
export const messageProperties = () =>
  [
    {
      name: 'headline',
      type: 'string',
      input: 'line',
      label: 'Headline',
      help: 'One line that says it all.',
      most: LIMITS.headline,
      translation: 'needed',
      isPersonal: true,
    },
    {
      name: 'body',
      type: 'string',
      input: 'text',
      label: 'Body',
      help: 'A sentence or two under the headline.',
      most: LIMITS.body,
      translation: 'needed',
      isPersonal: true,
    },
    {
      name: 'button_text',
      type: 'string',
      input: 'line',
      label: 'Button text',
      help: 'Without it the headline itself is the link.',
      most: LIMITS.button_text,
      translation: 'needed',
      isPersonal: true,
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
      translation: 'needed',
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
      input: 'widths',
      label: 'Image in other widths',
      help: 'Such as /a-640.jpg 640w, /a-1280.jpg 1280w: a browser takes the one that fits.',
      isRare: true,
    },
  ] as const satisfies readonly TemplateProperty[];

/** How it looks and closes, of all templates. */
export const frameProperties = () =>
  [
    {
      name: 'theme',
      type: 'string',
      input: 'choice',
      label: 'Theme',
      help: 'Auto follows the page.',
      choices: THEMES,
      translation: 'never',
      isRare: true,
    },
    {
      name: 'dismissible',
      type: 'boolean',
      input: 'switch',
      label: 'Can be dismissed',
      help: 'Shows a close button. On by default, but for hero.',
      isRare: true,
    },
    {
      name: 'dismiss_text',
      type: 'string',
      input: 'line',
      label: 'Name of the close button',
      help: 'Read by screen readers. “Dismiss” by default.',
      most: LIMITS.dismiss_text,
      translation: 'needed',
      isRare: true,
    },
  ] as const satisfies readonly TemplateProperty[];

/** What a message can be without its other parts. */
export const MESSAGE_NEEDED = ['headline', 'body', 'image'] as const;
