import type { Placard, PlacementHook } from '../client/index.ts';
import { displayAsBlock } from './block-display.ts';
import { mountElement, type OwnProperties } from './mount-element.ts';

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
