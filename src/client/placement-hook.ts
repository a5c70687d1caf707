import type { SlotEvents } from '../protocol/index.ts';
import type { Banner } from './banner.ts';

/** Slot without a banner. */
export interface SlotContext {
  /** Element that the host mounted. The hook renders only inside it. */
  element: HTMLElement;
  /** ID of the placement. */
  placementId: string;
  /** Aborted when the rendered content is removed. Use it for listeners and requests of the hook. */
  signal: AbortSignal;
}

/** Slot with the banner that a hook renders. */
export interface Slot extends SlotContext, SlotEvents {
  /**
   * Hides the banner for `hours`, on this device only and without an event. The maximum is the banner's number property
   * `max_snooze_hours`. A banner without this property stays visible, with a `failed` notice.
   */
  snooze(hours: number): Promise<void>;
  /**
   * Returns the URL if its scheme is allowed (`https`, `http` and relative; for links also `mailto` and `tel`); `null`
   * otherwise, with a `failed` notice of kind `url`. Use the result: a relative URL becomes absolute if the page's `<base>` is
   * on another site.
   */
  safeUrl(url: unknown, use: 'link' | 'image'): string | null;
  /** Returns the service's time in Unix milliseconds, estimated from its responses. The device's clock may be wrong. */
  now(): number;
  /** Emits a `failed` notice of this kind. The banner stays unchanged. */
  report(kind: 'hook' | 'image', message: string, cause?: unknown): void;
}

/** Reason that a banner is invalid for its placement. */
export interface Issue {
  /** Description for developers. */
  readonly message: string;
  /** Path of the property, if the schema provides it. */
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** Optional cleanup function. Without one, added nodes are removed. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook without a return statement is the common case
export type PlacementCleanup = void | (() => void);

/**
 * Function of the host that renders a banner into a slot and may return its cleanup. Created by hand or with `definePlacement`.
 */
export interface PlacementHook {
  (banner: Banner, slot: Slot): PlacementCleanup;
  /** Validates a banner before it is rendered. A banner with issues is neither rendered nor counted. */
  validate?(banner: Banner): readonly Issue[] | Promise<readonly Issue[]>;
  /** Renders the slot without a banner. With this method, the slot does not collapse. */
  renderEmpty?(slot: SlotContext): PlacementCleanup;
  /** Renders the slot instead of a banner with issues. Default: `renderEmpty`. */
  renderInvalid?(issues: readonly Issue[], slot: SlotContext): PlacementCleanup;
}
