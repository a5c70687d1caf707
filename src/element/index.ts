import { PlacardBanner } from './placard-banner.ts';

export { type HookRegistry, providePlacard } from './provided.ts';
export { PlacardBanner };

declare global {
  interface HTMLElementTagNameMap {
    'placard-banner': PlacardBanner;
  }
}

// Importing this module defines the element. If the package is loaded twice, the first definition stays.
if (globalThis.customElements && !customElements.get('placard-banner')) {
  customElements.define('placard-banner', PlacardBanner);
}
