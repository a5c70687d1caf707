import type { DefineComponent, HTMLAttributes } from 'vue';
import type { PlacardBannerAttributes } from './placard-banner.ts';

export * from './index.ts';

/** Props of `<placard-banner>` in Vue templates. */
export type PlacardBannerProps = HTMLAttributes & PlacardBannerAttributes;

declare module 'vue' {
  interface GlobalComponents {
    'placard-banner': DefineComponent<PlacardBannerProps>;
  }
}
