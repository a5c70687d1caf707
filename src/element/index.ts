import { PlacardBanner } from './placard-banner.ts';

export { type NamedHooks, providePlacard } from './provided.ts';
export { PlacardBanner };

declare global {
  interface HTMLElementTagNameMap {
    'placard-banner': PlacardBanner;
  }
}

// Importing defines the element; a second copy of the package on the page leaves the first in charge.
if (globalThis.customElements && !customElements.get('placard-banner')) {
  customElements.define('placard-banner', PlacardBanner);
}
