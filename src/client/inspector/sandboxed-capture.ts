import type { BannerCache } from '../banners/banner-cache.ts';
import { isFocus } from '../banners/overlay.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * Captures events, but for those of a banner that is sandboxed (a preview, or what the inspector shows): they go to the
 * inspector where it is open, and nothing of them is stored.
 */
export const createSandboxedCapture = (cache: BannerCache, delivery: Delivery) => {
  let sandbox: Sandbox | undefined;
  const isSandboxed = (bannerId: string): boolean => isFocus(bannerId) || sandbox?.isOn() === true;
  const capture: Delivery['capture'] = (event) => {
    if (!isSandboxed(event.bannerId)) return delivery.capture(event);
    if (sandbox) sandbox.take(event);
    else if (event.type === 'dismiss') cache.overlay.delete(event.placementId);
    return Promise.resolve(null);
  };

  return {
    isSandboxed,
    capture,
    /** The sandbox of the inspector, which begins with its first use. */
    open(create: () => Sandbox): Sandbox {
      sandbox ??= create();
      return sandbox;
    },
  };
};
