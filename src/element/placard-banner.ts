import type { Placard, PlacementHook } from '../client/index.ts';
import { mountElement, type OwnProperties } from './mount-element.ts';

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
