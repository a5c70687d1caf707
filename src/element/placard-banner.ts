import type { Placard, PlacementHook } from '../client/index.ts';
import { hookNames, namedHook, onProvided, providedPlacard } from './provided.ts';

/** What `<placard-banner>` takes in a template: two attributes, and two properties of the element. */
export interface PlacardBannerAttributes {
  /** The placement to show. */
  placement?: string | undefined;
  /** The name of a template, such as `hero`, where the element has no hook of its own. */
  template?: string | undefined;
  /** This element's own client. Default: the one that `providePlacard` was given. */
  placard?: Placard | null | undefined;
  /** This element's own hook. Default: the one that `template` names. */
  hook?: PlacementHook | null | undefined;
}

const DEFAULT_TEMPLATE = 'card';

/** An element's own properties; its attributes and `providePlacard` give the rest. */
interface OwnProperties {
  placard: Placard | null;
  hook: PlacementHook | null;
}

interface Mount {
  /** Style sheets and nodes belong to one document: a frame needs its own. */
  document: Document;
  placard: Placard;
  placementId: string;
  hook: PlacementHook;
}

const warned = new Set<string>();

/** An element cannot throw to the author of the markup, who looks into the console. Once for each name. */
const warnOf = (template: string): void => {
  if (warned.has(template)) return;
  warned.add(template);
  console.warn(`<placard-banner>: template "${template}" is none of ${hookNames().join(', ')}`);
};

/**
 * Keeps one element mounted as its attributes, its properties and the provided client say. Changes are gathered in a
 * microtask: an element that is moved is back in the page by then, and stays mounted as it was.
 */
const mountElement = (element: HTMLElement, own: OwnProperties) => {
  let mounted: (Mount & { unmount: () => void }) | null = null;
  let stopListening: (() => void) | null = null;
  let isWaiting = false;

  const wantedMount = (): Mount | null => {
    const placard = own.placard ?? providedPlacard();
    const placementId = element.getAttribute('placement');
    if (!element.isConnected || !placard || !placementId) return null;
    const template = element.getAttribute('template') ?? DEFAULT_TEMPLATE;
    const hook = own.hook ?? namedHook(template);
    if (!hook) warnOf(template);
    return hook ? { document: element.ownerDocument, placard, placementId, hook } : null;
  };

  const settle = () => {
    isWaiting = false;
    if (!element.isConnected) {
      stopListening?.();
      stopListening = null;
    } else stopListening ??= onProvided(soon);
    const next = wantedMount();
    const isSame =
      mounted?.document === next?.document &&
      mounted?.placard === next?.placard &&
      mounted?.placementId === next?.placementId &&
      mounted?.hook === next?.hook;
    if (isSame) return;
    mounted?.unmount();
    mounted = next && { ...next, unmount: next.placard.mount(next.placementId, element, next.hook) };
  };
  const soon = () => {
    if (isWaiting) return;
    isWaiting = true;
    queueMicrotask(settle);
  };

  return { changed: soon };
};

const sheets = new WeakMap<Document, CSSStyleSheet>();

/**
 * An unknown element is inline, and an inline element has no box to fill. `:where` keeps the rule weaker than any of the
 * page's own, and a constructed sheet needs no `style-src`.
 */
const displayAsBlock = (element: HTMLElement): void => {
  const root = element.getRootNode() as Document | ShadowRoot;
  const { ownerDocument: document } = element;
  const view = document.defaultView as (Window & typeof globalThis) | null;
  if (!view || !root.adoptedStyleSheets) return;
  let sheet = sheets.get(document);
  if (!sheet) {
    sheet = new view.CSSStyleSheet();
    sheet.replaceSync(':where(placard-banner) { display: block; }');
    sheets.set(document, sheet);
  }
  // A page may have set its own sheets anew since.
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
};

/** Without a DOM (on a server) there is nothing to extend, and nothing is ever constructed. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement);

/** Values set before the element was defined sit on the instance and would hide the class's own accessors. */
const takeEarly = <Name extends keyof OwnProperties>(
  element: HTMLElement & OwnProperties,
  name: Name,
): void => {
  if (!Object.hasOwn(element, name)) return;
  const early = element[name];
  Reflect.deleteProperty(element, name);
  element[name] = early;
};

/**
 * `<placard-banner placement="home_hero" template="hero">`: a placement as an element. A class because custom elements
 * must be one; it only passes on what the browser calls.
 */
export class PlacardBanner extends Base {
  static observedAttributes = ['placement', 'template'];
  #own: OwnProperties = { placard: null, hook: null };
  #mount = mountElement(this, this.#own);

  /** This element's own client; `null` takes the one of `providePlacard`. */
  get placard(): Placard | null {
    return this.#own.placard;
  }
  set placard(placard: Placard | null) {
    this.#own.placard = placard;
    this.#mount.changed();
  }

  /** This element's own hook; `null` takes the one that `template` names. */
  get hook(): PlacementHook | null {
    return this.#own.hook;
  }
  set hook(hook: PlacementHook | null) {
    this.#own.hook = hook;
    this.#mount.changed();
  }

  /** The browser calls it. */
  connectedCallback(): void {
    takeEarly(this, 'placard');
    takeEarly(this, 'hook');
    displayAsBlock(this);
    this.#mount.changed();
  }
  /** The browser calls it. */
  disconnectedCallback(): void {
    this.#mount.changed();
  }
  /** `moveBefore` keeps an element's state where the engine sees this method; there is nothing to do. */
  connectedMoveCallback(): void {
    this.#mount.changed();
  }
  /** The browser calls it. */
  attributeChangedCallback(): void {
    this.#mount.changed();
  }
}
