import type { Banner } from '../banner.ts';
import type { Notice } from '../notices.ts';
import type { PlacementHook } from '../placement-hook.ts';
import type { BannerCheck } from './banner-check.ts';

export type EmptyReason = Extract<Notice, { type: 'emptied' }>['reason'];

/** One element that shows a placement. */
export interface Mounted {
  placementId: string;
  element: HTMLElement;
  /** The banner in the slot; a control banner is here too, though nothing is drawn. */
  shown: Banner | null;
  /** Why nothing is drawn. */
  emptied?: EmptyReason | null;
  check: BannerCheck;
}

/** The same as `placements.ts` keeps it. */
export interface MountedSlot extends Mounted {
  hook: PlacementHook;
  /** Undoes the hook's drawing. */
  clear?: (() => void) | undefined;
  /** Gives back the room that is kept. */
  release?: (() => void) | undefined;
  /** Opens a slot that is closed because it is empty. */
  expand?: (() => void) | undefined;
  unwatch?: (() => void) | undefined;
  cancelExpiry?: () => void;
  wasConnected?: boolean;
}
