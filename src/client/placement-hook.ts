import type { Banner } from './banner.ts';

/** A slot of the page, without a banner. */
export interface EmptySlot {
  /** The element the host mounted; the hook draws inside it and nowhere else. */
  element: HTMLElement;
  /** The placement that was mounted there. */
  placementId: string;
  /** Aborted when what was drawn leaves; for listeners and requests the hook starts. */
  signal: AbortSignal;
}

/** What a placement hook may do with the banner it draws. */
export interface Slot extends EmptySlot {
  /**
   * Logs a click. Resolves when it is durable, or was not taken. Before a navigation wait for it, but not for long: it is in memory alone
   * until the rest of the client is loaded, and the templates wait for 250 milliseconds.
   */
  click(): Promise<void>;
  /** Hides the banner at once, here and in the other tabs, and logs one dismissal. */
  dismiss(): Promise<void>;
  /**
   * Hides the banner like `dismiss()`, for so many hours, on this device alone: no event is sent. It is at most the banner's
   * number property `max_snooze_hours`; a banner without one stays, and there is a `failed` notice.
   */
  snooze(hours: number): Promise<void>;
  /**
   * The URL if its scheme is allowed (https, http and relative; a link may be mailto and tel as well), else `null`. Use what
   * it returns: a relative URL is absolute then where the page's `<base>` is of another site.
   */
  safeUrl(url: unknown, use: 'link' | 'image'): string | null;
  /** Unix milliseconds by the service's clock, as far as its answers have told it: the device's own may be set wrong. */
  now(): number;
  /** Reports a failure that leaves the banner as it is drawn: a `failed` notice of this kind. */
  report(kind: 'hook' | 'image', message: string, cause?: unknown): void;
}

/** Why a banner does not fit its placement; where in the properties, as far as the schema knows. */
export interface Problem {
  /** What is wrong, for developers. */
  readonly message: string;
  /** Where in the properties. */
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** What a hook returns: how to take back what it drew, or nothing; then the nodes it added are removed. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook without a return statement is the common case
export type Drawn = void | (() => void);

/** Host function that draws a banner and may return its cleanup. `definePlacement` makes one with all the rest. */
export interface PlacementHook {
  (banner: Banner, slot: Slot): Drawn;
  /** Called before a banner is drawn: one with problems is neither drawn nor counted. */
  check?(banner: Banner): readonly Problem[] | Promise<readonly Problem[]>;
  /** Draws what the slot shows without a banner. Such a slot is not collapsed. */
  empty?(slot: EmptySlot): Drawn;
  /** Draws what the slot shows instead of a banner with problems. Default: `empty`. */
  invalid?(problems: readonly Problem[], slot: EmptySlot): Drawn;
}
