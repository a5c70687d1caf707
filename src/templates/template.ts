import type { Banner, PlacementHook, Slot } from '../client/index.ts';
import { BASE_CSS } from './base-css.ts';
import { buildElement } from './build-element.ts';
import { type Content, readContent } from './content.ts';
import { dismissButton } from './dismiss-button.ts';
import { fitTexts } from './fit-texts.ts';
import { followLink, type Navigate } from './follow-link.ts';
import { openFrame } from './frame.ts';
import { type Picture, picture } from './picture.ts';

/** How the templates fit into the host: its navigation and its words. */
export interface TemplateOptions {
  /** Gets the link of every plain click, mailto and tel as well, once it is stored. Default: the browser goes there. */
  navigate?: Navigate | undefined;
  /** Name of the region where the banner has no headline. Default `Promotion`. */
  regionLabel?: string | undefined;
  /** Name of the close button where the banner brings none. Default `Dismiss`. */
  dismissLabel?: string | undefined;
  /** Names of the buttons of a carousel. Default `Previous` and `Next`. */
  previousLabel?: string | undefined;
  nextLabel?: string | undefined;
}

/** What makes one template: its styles, and whether its close button is there by default. */
export interface Look {
  css: string;
  /** Where the slot has no width of its own. Default `40rem`. */
  width?: string;
  /** The look that it is a form of: its styles come first. */
  base?: Look;
  dismissible: boolean;
  /** More of its own between the words and the button; `null` where the banner does not have it. */
  part?: (banner: Banner, slot: Slot) => HTMLElement | null;
  /** Whether it has a second button beside the first. */
  hasChoice?: boolean;
  /** Returns the messages after the first one. */
  further?: (banner: Banner, slot: Slot) => Content[];
  /** Returns the section that holds the messages. Default: the first message is the section. */
  arrange?: (messages: readonly { element: HTMLElement }[], drawing: Drawing) => HTMLElement;
}

/** What is drawn, and where. */
export interface Drawing {
  name: string;
  look: Look;
  options: TemplateOptions;
  banner: Banner;
  slot: Slot;
}

/** A placement hook, and how to make one of the same template that fits into the host. */
export interface Template extends PlacementHook {
  /** The template with the host's own navigation and words. */
  with(options: TemplateOptions): PlacementHook;
}

/** Characters from which a headline is set as a text rather than as a title. */
const LONG_HEADLINE = 60;

const link = (
  { link: href }: Pick<Content, 'link'>,
  slot: Slot,
  label: string,
  className: string,
  navigate?: Navigate,
) => {
  if (href === null) return null;
  const document = slot.element.ownerDocument;
  const anchor = buildElement(document, 'a', { class: className, href }, [label]);
  followLink(anchor, slot, navigate);
  return anchor;
};

/** The headline and the body, as far as they are there. */
const words = (content: Content, slot: Slot, reach: string, navigate?: Navigate): HTMLElement[] => {
  const { headline, body } = content;
  const document = slot.element.ownerDocument;
  const text = (className: string, child: Node | string) =>
    buildElement(document, 'p', { class: className }, [child]);
  const headlineLink = headline !== null && content.buttonText === null;
  return [
    headline === null
      ? null
      : text('headline', (headlineLink && link(content, slot, headline, reach, navigate)) || headline),
    body === null ? null : text('body', body),
  ].filter((each) => each !== null);
};

/** Nothing is seen yet while an element is busy: no impression counts. */
const markBusy = ({ element, signal }: Slot, until: Promise<void>): void => {
  const end = () => element.removeAttribute('aria-busy');
  element.setAttribute('aria-busy', 'true');
  signal.addEventListener('abort', end);
  until.then(end, end);
};

/** What a hook returns whose drawing is not done, or has failed, before this settles: the client takes a promise for that. */
const pending = (remove: () => void, done: Promise<void>): (() => void) =>
  // biome-ignore lint/suspicious/noThenProperty: being a promise is the purpose
  Object.assign(remove, { then: done.then.bind(done) });

/** One message as it is drawn: its picture, its words, its buttons. */
interface Message {
  element: HTMLElement;
  content: Content;
  texts: HTMLElement[];
  picture: Picture | null;
}

/** Returns a message as one element; its styles begin with the name as a class. */
const drawMessage = (
  { name, look, options, banner, slot }: Drawing,
  content: Content,
  tag: 'section' | 'li',
): Message => {
  const { navigate, regionLabel = 'Promotion' } = options;
  const { headline, buttonText, image, imageAlt } = content;
  const document = slot.element.ownerDocument;
  const second = look.hasChoice ? content.second : null;
  // With two links neither is the whole banner.
  const reach = second ? '' : 'cover';
  const texts = words(content, slot, reach, navigate);
  const action = buttonText === null ? null : link(content, slot, buttonText, `action ${reach}`, navigate);
  const other = second && link(second, slot, second.buttonText, 'action other', navigate);
  const part = look.part?.(banner, slot) ?? null;

  const drawn = image === null ? null : picture(slot, image, content);
  if (headline === null && !action) {
    // An image that is the whole banner is itself the link, named by its description.
    const cover = drawn && link(content, slot, '', 'cover', navigate);
    cover?.setAttribute('aria-label', imageAlt || regionLabel);
    if (cover) {
      // Read once: the link says what the image does.
      drawn?.box.firstElementChild?.setAttribute('aria-hidden', 'true');
      drawn?.box.append(cover);
    }
  }

  const attributes = {
    class: name,
    'data-picture': drawn ? 'some' : 'none',
    'data-words': texts.length > 0 || part || action || other ? 'some' : 'none',
    'data-headline': (headline?.length ?? 0) > LONG_HEADLINE ? 'long' : null,
    // The banner's own words decide which side is its start; without any the page does.
    dir: texts.length > 0 ? 'auto' : null,
  };
  const element = buildElement(document, tag, attributes, [
    drawn?.box ?? null,
    buildElement(document, 'div', { class: 'content' }, [
      texts.length > 0 ? buildElement(document, 'div', { class: 'words' }, texts) : null,
      part,
      other ? buildElement(document, 'div', { class: 'buttons' }, [action, other]) : action,
    ]),
  ]);
  return { element, content, texts, picture: drawn };
};

/** Turns a look into a placement hook. */
const createHook =
  (name: string, look: Look, options: TemplateOptions): PlacementHook =>
  (banner, slot) => {
    const { regionLabel = 'Promotion', dismissLabel = 'Dismiss' } = options;
    const first = readContent(banner, slot, { dismissible: look.dismissible });
    const drawing = { name, look, options, banner, slot };
    const contents = [first, ...(look.further?.(banner, slot) ?? [])];
    const messages = contents.map((content) =>
      drawMessage(drawing, content, look.further ? 'li' : 'section'),
    );
    const panel = look.arrange?.(messages, drawing) ?? messages[0]!.element;
    panel.classList.add('panel');
    panel.dataset['theme'] = first.theme;
    panel.setAttribute('aria-label', (!look.arrange && first.headline) || regionLabel);
    if (first.language !== null) panel.lang = first.language;
    if (first.dismissible) panel.append(dismissButton(slot, first.dismissText ?? dismissLabel));
    const remove = openFrame(slot, panel, {
      css: [BASE_CSS, ...(look.base ? [look.base.css] : []), look.css],
      width: look.width ?? look.base?.width ?? '40rem',
    });
    for (const { element, texts } of messages) fitTexts(element, texts, slot.signal);
    // A banner that is its image alone is seen once that is there, and fails with it.
    const [{ picture: only, texts }] = messages as [Message];
    if (messages.length === 1 && only && texts.length === 0) {
      markBusy(slot, only.loaded);
      return pending(remove, only.loaded);
    }
    for (const { picture, content } of messages) {
      picture?.loaded.catch((cause) => {
        slot.report(
          'image',
          `A picture of banner "${banner.id}" is missing: ${cause.message}`,
          content.image,
        );
      });
    }
    return remove;
  };

/** A template, from its look. A bundler leaves out those that nobody imports. */
export const createTemplate = (name: string, look: Look): Template =>
  Object.assign(createHook(name, look, {}), {
    with: (options: TemplateOptions) => createHook(name, look, options),
  });
