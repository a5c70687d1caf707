import type { Placard, PlacementHook } from '../client/index.ts';
import { hookNames, namedHook, onProvided, providedPlacard } from './provided.ts';

/** Attributes and properties of `<placard-banner>` in a template. */
export interface PlacardBannerAttributes {
  /** ID of the placement. */
  placement?: string | undefined;
  /** Name of a template, such as `hero`, if the element has no hook of its own. */
  template?: string | undefined;
  /** Client of this element. Default: the client passed to `providePlacard`. */
  placard?: Placard | null | undefined;
  /** Placement hook of this element. Default: the hook named by `template`. */
  hook?: PlacementHook | null | undefined;
}

const DEFAULT_TEMPLATE = 'card';

/** Properties of an element. Its attributes and `providePlacard` supply the values that are not set. */
interface OwnProperties {
  placard: Placard | null;
  hook: PlacementHook | null;
}

interface Mount {
  /** Style sheets and nodes belong to one document, so a frame needs its own. */
  document: Document;
  placard: Placard;
  placementId: string;
  hook: PlacementHook;
}

const warned = new Set<string>();

/** Logs a warning once per unknown template name, because an element cannot throw to the author of the markup. */
const warnUnknown = (template: string): void => {
  if (warned.has(template)) return;
  warned.add(template);
  console.warn(`<placard-banner>: template: expected ${hookNames().join(', ')}, got "${template}"`);
};

/**
 * Keeps an element mounted according to its attributes, properties and the provided client. Batches changes in a microtask, so
 * that an element that is moved stays mounted.
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
    if (!hook) warnUnknown(template);
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

const isStyleScope = (root: Node): root is Document | ShadowRoot => 'adoptedStyleSheets' in root;

/**
 * Displays the element as a block, because unknown elements are inline and have no box to fill. `:where` has no specificity, so
 * rules of the page take precedence. A constructed sheet needs no `style-src`.
 */
const displayAsBlock = (element: HTMLElement): void => {
  const root = element.getRootNode();
  const { ownerDocument: document } = element;
  const view = document.defaultView;
  if (!view || !isStyleScope(root)) return;
  let sheet = sheets.get(document);
  if (!sheet) {
    sheet = new view.CSSStyleSheet();
    sheet.replaceSync(':where(placard-banner) { display: block; }');
    sheets.set(document, sheet);
  }
  // The page may have replaced its adopted sheets since.
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
};

/** Base class: on a server without a DOM, a placeholder that is never constructed. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/**
 * Moves values that were set before the element was defined from the instance to the accessors, because they would hide the
 * accessors.
 */
const takeEarly = <Name extends keyof OwnProperties>(
  element: HTMLElement & OwnProperties,
  name: Name,
): void => {
  if (!Object.hasOwn(element, name)) return;
  const early = element[name];
  Reflect.deleteProperty(element, name);
  element[name] = early;
};

/** `<placard-banner placement="home_hero" template="hero">`: a placement as a custom element. */
export class PlacardBanner extends Base {
  static observedAttributes = ['placement', 'template'];
  #own: OwnProperties = { placard: null, hook: null };
  #mount = mountElement(this, this.#own);

  /** Client of this element; `null` uses the client of `providePlacard`. */
  get placard(): Placard | null {
    return this.#own.placard;
  }
  set placard(placard: Placard | null) {
    this.#own.placard = placard;
    this.#mount.changed();
  }

  /** Placement hook of this element; `null` uses the hook named by `template`. */
  get hook(): PlacementHook | null {
    return this.#own.hook;
  }
  set hook(hook: PlacementHook | null) {
    this.#own.hook = hook;
    this.#mount.changed();
  }

  /** Called by the browser when the element is added to a document. */
  connectedCallback(): void {
    takeEarly(this, 'placard');
    takeEarly(this, 'hook');
    displayAsBlock(this);
    this.#mount.changed();
  }
  /** Called by the browser when the element is removed. */
  disconnectedCallback(): void {
    this.#mount.changed();
  }
  /** Called by the browser on `moveBefore`, which keeps the element's state only if this method is defined. */
  connectedMoveCallback(): void {
    this.#mount.changed();
  }
  /** Called by the browser when an observed attribute changes. */
  attributeChangedCallback(): void {
    this.#mount.changed();
  }
}
