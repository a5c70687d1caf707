import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { PlacardBanner } from './index.ts';
import type { PlacardBannerAttributes } from './placard-banner.ts';

export * from './index.ts';

/** Props of `<placard-banner>` in JSX. */
export type PlacardBannerProps = DetailedHTMLProps<HTMLAttributes<PlacardBanner>, PlacardBanner> &
  PlacardBannerAttributes;

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'placard-banner': PlacardBannerProps;
    }
  }
}
