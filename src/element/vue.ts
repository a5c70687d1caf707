import type { DefineComponent, HTMLAttributes } from 'vue';
import type { PlacardBannerAttributes } from './placard-banner.ts';

export * from './index.ts';

/** What `<placard-banner>` takes in a Vue template. */
export type PlacardBannerProps = HTMLAttributes & PlacardBannerAttributes;

declare module 'vue' {
  interface GlobalComponents {
    'placard-banner': DefineComponent<PlacardBannerProps>;
  }
}
