/** Placard extension. */
export const PLACEMENTS_PATH = '/placard/placements';

/** Insertion position, relative to the element that the selector matches. */
export const INSERTIONS = ['before', 'after', 'prepend', 'append'] as const;
export type Insertion = (typeof INSERTIONS)[number];

/** Placement that the client inserts by selector. */
export interface SelectorPlacement {
  placement_id: string;
  /** CSS selector; the first match is used. */
  selector: string;
  insert: Insertion;
  /** Paths that the placement applies to; `*` matches any characters. */
  paths: string[];
  /** Name of the template that renders its banners. */
  template: string;
  /** Height of the box in CSS pixels. */
  height_px: number;
  /** Height in CSS pixels if the box is at least 48 rem wide. Default: `height_px`. */
  wide_height_px?: number | undefined;
}
