import type { Banner, PlacementHook, Slot } from '../client/index.ts';
import { BASE_CSS } from './base-css.ts';
import { buildElement } from './build-element.ts';
import { type Content, readContent } from './content.ts';
import { dismissButton } from './dismiss-button.ts';
import { fitTexts } from './fit-texts.ts';
import { followLink, type Navigate } from './follow-link.ts';
import { openFrame } from './frame.ts';
import { type RenderedImage, renderImage } from './image.ts';

/** Navigation and labels of templates. */
export interface TemplateOptions {
  /**
   * Called with the URL of each plain click, including mailto and tel, after the click is stored. Default: the browser navigates.
   */
  navigate?: Navigate | undefined;
  /** Accessible name of the region if the banner has no headline. Default `Promotion`. */
  regionLabel?: string | undefined;
  /** Label of the close button if the banner has none. Default `Dismiss`. */
  dismissLabel?: string | undefined;
  /** Labels of the carousel buttons. Default `Previous` and `Next`. */
  previousLabel?: string | undefined;
  nextLabel?: string | undefined;
}

/** Definition of a template. */
export interface TemplateDefinition {
  css: string;
  /** Width if the slot has no width of its own. Default `40rem`. */
  width?: string;
  /** Template to extend, whose styles come first. */
  base?: TemplateDefinition;
  dismissible: boolean;
  /** Renders an element between text and button. Returns `null` if the banner has none. */
  part?: (banner: Banner, slot: Slot) => HTMLElement | null;
  /** Whether the template has a second button. */
  hasChoice?: boolean;
  /** Returns the messages after the first. */
  further?: (banner: Banner, slot: Slot) => Content[];
  /** Returns the section with the messages. Default: the first message is the section. */
  arrange?: (messages: readonly { element: HTMLElement }[], input: RenderInput) => HTMLElement;
}

/** Banner, slot and options of a rendering. */
export interface RenderInput {
  name: string;
  definition: TemplateDefinition;
  options: TemplateOptions;
  banner: Banner;
  slot: Slot;
}

/** Placement hook that can be customized. */
export interface Template extends PlacementHook {
  /** Returns the template with the host's navigation and labels. */
  with(options: TemplateOptions): PlacementHook;
}

/** Minimum length of a headline that is styled as text instead of a title. */
const LONG_HEADLINE = 60;

interface LinkContext {
  slot: Slot;
  navigate: Navigate | undefined;
  /** Whether the banner has several links, so that their clicks are told apart. */
  hasSeveral: boolean;
}

const link = (
  { link: href, linkProperty }: Pick<Content, 'link' | 'linkProperty'>,
  { slot, navigate, hasSeveral }: LinkContext,
  label: string,
  className: string,
) => {
  if (href === null) return null;
  const document = slot.element.ownerDocument;
  const anchor = buildElement(document, 'a', { class: className, href }, [label]);
  followLink(anchor, slot, { navigate, buttonId: hasSeveral ? linkProperty : undefined });
  return anchor;
};

/** Renders the headline and body, if present. */
const renderTexts = (content: Content, context: LinkContext, className: string): HTMLElement[] => {
  const { headline, body } = content;
  const document = context.slot.element.ownerDocument;
  const text = (className: string, child: Node | string) =>
    buildElement(document, 'p', { class: className }, [child]);
  const headlineLink = headline !== null && content.buttonText === null;
  return [
    headline === null
      ? null
      : text('headline', (headlineLink && link(content, context, headline, className)) || headline),
    body === null ? null : text('body', body),
  ].filter((each) => each !== null);
};

/** Marks an element as busy while pending, so that no impression counts. */
const markBusy = ({ element, signal }: Slot, until: Promise<void>): void => {
  const end = () => element.removeAttribute('aria-busy');
  element.setAttribute('aria-busy', 'true');
  signal.addEventListener('abort', end);
  until.then(end, end);
};

/** Returns a cleanup function that is also a promise of the rendering, which the client awaits. */
const pending = (remove: () => void, done: Promise<void>): (() => void) =>
  // biome-ignore lint/suspicious/noThenProperty: being a promise is the purpose
  Object.assign(remove, { then: done.then.bind(done) });

/** Rendered message: image, texts and buttons. */
interface Message {
  element: HTMLElement;
  content: Content;
  texts: HTMLElement[];
  image: RenderedImage | null;
}

/** Renders a message as one element, with the template's name as a class. */
const renderMessage = (
  { name, definition, options, banner, slot }: RenderInput,
  content: Content,
  tag: 'section' | 'li',
): Message => {
  const { navigate, regionLabel = 'Promotion' } = options;
  const { headline, buttonText, image, imageAlt } = content;
  const document = slot.element.ownerDocument;
  const second = definition.hasChoice ? content.second : null;
  const context = { slot, navigate, hasSeveral: second !== null || definition.further !== undefined };
  // With two links, neither covers the whole banner.
  const className = second ? '' : 'stretched-link';
  const texts = renderTexts(content, context, className);
  const action = buttonText === null ? null : link(content, context, buttonText, `action ${className}`);
  const other = second && link(second, context, second.buttonText, 'action other');
  const part = definition.part?.(banner, slot) ?? null;

  const rendered = image === null ? null : renderImage(slot, image, content);
  if (headline === null && !action) {
    // If the image is the whole banner, it is the link, labeled by its description.
    const imageLink = rendered && link(content, context, '', 'stretched-link');
    imageLink?.setAttribute('aria-label', imageAlt || regionLabel);
    if (imageLink) {
      // Hidden from screen readers, because the link has the same label.
      rendered?.box.firstElementChild?.setAttribute('aria-hidden', 'true');
      rendered?.box.append(imageLink);
    }
  }

  const attributes = {
    class: name,
    'data-image': rendered ? 'some' : 'none',
    'data-content': texts.length > 0 || part || action || other ? 'some' : 'none',
    'data-headline': (headline?.length ?? 0) > LONG_HEADLINE ? 'long' : null,
    // The banner's text determines the direction; if it has no text, the page's direction applies.
    dir: texts.length > 0 ? 'auto' : null,
  };
  const element = buildElement(document, tag, attributes, [
    rendered?.box ?? null,
    buildElement(document, 'div', { class: 'content' }, [
      texts.length > 0 ? buildElement(document, 'div', { class: 'texts' }, texts) : null,
      part,
      other ? buildElement(document, 'div', { class: 'buttons' }, [action, other]) : action,
    ]),
  ]);
  return { element, content, texts, image: rendered };
};

/** Creates a placement hook from a definition. */
const createHook =
  (name: string, definition: TemplateDefinition, options: TemplateOptions): PlacementHook =>
  (banner, slot) => {
    const { regionLabel = 'Promotion', dismissLabel = 'Dismiss' } = options;
    const first = readContent(banner, slot, { dismissible: definition.dismissible });
    const input = { name, definition, options, banner, slot };
    const contents = [first, ...(definition.further?.(banner, slot) ?? [])];
    const messages = contents.map((content) =>
      renderMessage(input, content, definition.further ? 'li' : 'section'),
    );
    const panel = definition.arrange?.(messages, input) ?? messages[0]!.element;
    panel.classList.add('panel');
    panel.dataset['theme'] = first.theme;
    panel.setAttribute('aria-label', (!definition.arrange && first.headline) || regionLabel);
    if (first.language !== null) panel.lang = first.language;
    if (first.dismissible) panel.append(dismissButton(slot, first.dismissText ?? dismissLabel));
    const remove = openFrame(slot, panel, {
      css: [BASE_CSS, ...(definition.base ? [definition.base.css] : []), definition.css],
      width: definition.width ?? definition.base?.width ?? '40rem',
    });
    for (const { element, texts } of messages) fitTexts(element, texts, slot.signal);
    // An image-only banner is visible once the image has loaded, and fails if the image fails.
    const { image: only, texts } = messages[0]!;
    if (messages.length === 1 && only && texts.length === 0) {
      markBusy(slot, only.loaded);
      return pending(remove, only.loaded);
    }
    for (const { image, content } of messages) {
      image?.loaded.catch((cause) => {
        slot.report(
          'image',
          `Banner "${banner.id}" is shown without its image: ${cause.message}`,
          content.image,
        );
      });
    }
    return remove;
  };

/** Creates a template. Bundlers drop unused templates. */
export const createTemplate = (name: string, definition: TemplateDefinition): Template =>
  Object.assign(createHook(name, definition, {}), {
    with: (options: TemplateOptions) => createHook(name, definition, options),
  });
