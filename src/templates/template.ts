import type { PlacementHook, Slot } from '../client/index.ts';
import { BASE_CSS } from './base-css.ts';
import { buildElement } from './build-element.ts';
import { type Content, readContent } from './content.ts';
import { dismissButton } from './dismiss-button.ts';
import { followLink, type Navigate } from './follow-link.ts';
import { openFrame } from './frame.ts';
import { picture } from './picture.ts';

/** How the templates fit into the host: its navigation and its words. */
export interface TemplateOptions {
  /** Gets the link of every plain click, mailto and tel as well, once it is stored. Default: the browser goes there. */
  navigate?: Navigate;
  /** Name of the region where the banner has no headline. Default `Promotion`. */
  regionLabel?: string;
  /** Name of the close button where the banner brings none. Default `Dismiss`. */
  dismissLabel?: string;
}

/** What one template is: a name, its styles, and whether its close button is there by default. */
export interface Look {
  name: string;
  css: string;
  dismissible: boolean;
}

const link = (content: Content, slot: Slot, label: string, className: string, navigate?: Navigate) => {
  if (content.link === null) return null;
  const document = slot.element.ownerDocument;
  const anchor = buildElement(document, 'a', { class: className, href: content.link }, [label]);
  followLink(anchor, slot, navigate);
  return anchor;
};

const words = (content: Content, slot: Slot, navigate?: Navigate): HTMLElement | null => {
  const { headline, body } = content;
  if (headline === null && body === null) return null;
  const document = slot.element.ownerDocument;
  const text = (className: string, child: Node | string) =>
    buildElement(document, 'p', { class: className }, [child]);
  const headlineLink = headline !== null && content.buttonText === null;
  return buildElement(document, 'div', { class: 'words' }, [
    headline === null
      ? null
      : text('headline', (headlineLink && link(content, slot, headline, 'cover', navigate)) || headline),
    body === null ? null : text('body', body),
  ]);
};

/** An image that is the whole banner is itself the link, named by its description. */
const linkedPicture = (content: Content, slot: Slot, label: string, navigate?: Navigate) => {
  const box = picture(slot.element.ownerDocument, content, slot.signal);
  const alone = content.headline === null && content.buttonText === null;
  const cover = box && alone ? link(content, slot, '', 'cover', navigate) : null;
  cover?.setAttribute('aria-label', content.imageAlt || label);
  if (cover) box?.append(cover);
  return box;
};

/** Turns a look into a placement hook. */
export const createTemplate =
  (look: Look, options: TemplateOptions): PlacementHook =>
  (banner, slot) => {
    const { navigate, regionLabel = 'Promotion', dismissLabel = 'Dismiss' } = options;
    const content = readContent(banner, slot, { dismissible: look.dismissible });
    const document = slot.element.ownerDocument;
    const { root, remove } = openFrame(slot, [BASE_CSS, look.css]);
    const action =
      content.buttonText === null ? null : link(content, slot, content.buttonText, 'action cover', navigate);
    const attributes = {
      class: `panel ${look.name}`,
      'aria-label': content.headline ?? (content.imageAlt || regionLabel),
      'data-theme': content.theme,
      'data-picture': content.image === null ? 'none' : 'some',
      // The banner's own words decide which side is its start.
      dir: 'auto',
    };
    root.append(
      buildElement(document, 'section', attributes, [
        linkedPicture(content, slot, regionLabel, navigate),
        buildElement(document, 'div', { class: 'content' }, [words(content, slot, navigate), action]),
        content.dismissible ? dismissButton(slot, content.dismissText ?? dismissLabel) : null,
      ]),
    );
    return remove;
  };
