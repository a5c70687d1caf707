import { LIMITS, THEMES } from './content.ts';

// Lists are functions, so that bundlers drop those that a page does not call.

/** Editor metadata of a property: its wire type, and for strings whether it is a line, text, link or choice. */
export interface TemplateProperty<Name extends string = string> {
  name: Name;
  type: 'string' | 'boolean' | 'image' | 'datetime';
  input: 'line' | 'text' | 'link' | 'widths' | 'choice' | 'switch' | 'image' | 'moment';
  label: string;
  help: string;
  /** Maximum number of characters. Longer text is truncated with an ellipsis. */
  most?: number;
  choices?: readonly string[];
  /**
   * Whether the text is translated: `needed` for text that users read, `never` if it is the same in all languages. Default:
   * optional.
   */
  translation?: 'needed' | 'never';
  /** Whether the text may contain the user's name. */
  isPersonal?: true;
  /** Whether the property is rarely used. */
  isRare?: true;
}

/** Message properties, which all templates render. */
export const messageProperties = () =>
  [
    {
      name: 'headline',
      type: 'string',
      input: 'line',
      label: 'Headline',
      help: 'The message in one line.',
      most: LIMITS.headline,
      translation: 'needed',
      isPersonal: true,
    },
    {
      name: 'body',
      type: 'string',
      input: 'text',
      label: 'Body',
      help: 'One or two sentences.',
      most: LIMITS.body,
      translation: 'needed',
      isPersonal: true,
    },
    {
      name: 'button_text',
      type: 'string',
      input: 'line',
      label: 'Button text',
      help: 'If empty, the headline is the link.',
      most: LIMITS.button_text,
      translation: 'needed',
      isPersonal: true,
    },
    {
      name: 'link',
      type: 'string',
      input: 'link',
      label: 'Link',
      help: 'https, http, mailto, tel, or a path on your site.',
    },
    {
      name: 'image',
      type: 'image',
      input: 'image',
      label: 'Image',
      help: 'https or http. Cropped to fit, never stretched.',
    },
    {
      name: 'image_alt',
      type: 'string',
      input: 'line',
      label: 'Image description',
      help: 'For screen readers. Leave empty if decorative.',
      most: LIMITS.image_alt,
      translation: 'needed',
    },
    {
      name: 'image_dark',
      type: 'image',
      input: 'image',
      label: 'Dark theme image',
      help: 'Replaces the image in the dark theme.',
    },
    {
      name: 'image_widths',
      type: 'string',
      input: 'widths',
      label: 'Responsive images',
      help: 'For example /a-640.jpg 640w, /a-1280.jpg 1280w.',
      isRare: true,
    },
  ] as const satisfies readonly TemplateProperty[];

/** Appearance and dismissal properties, common to all templates. */
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
      label: 'Dismissible',
      help: 'Shows a close button. Default: on, except hero.',
      isRare: true,
    },
    {
      name: 'dismiss_label',
      type: 'string',
      input: 'line',
      label: 'Close button label',
      help: 'For screen readers. Default: “Dismiss”.',
      most: LIMITS.dismiss_label,
      translation: 'needed',
      isRare: true,
    },
  ] as const satisfies readonly TemplateProperty[];

/** Parts that a message can consist of alone. */
export const MESSAGE_NEEDED = ['headline', 'body', 'image'] as const;
