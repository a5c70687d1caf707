/** Ours: no other server has it. */
export const PLACEMENTS_PATH = '/placard/placements';

/** Where a placement goes: beside the element that its selector finds, or inside it. */
export const INSERTIONS = ['before', 'after', 'prepend', 'append'] as const;
export type Insertion = (typeof INSERTIONS)[number];

/** Body of `POST /placard/placements`. */
export interface PlacementsRequest {
  /** Placements whose selector found nothing on a page that they are for, since the last request of this user. */
  missing?: string[] | undefined;
}

/** A placement that the client inserts by itself. */
export interface SelectorPlacement {
  placement_id: string;
  /** CSS; the first element that it finds counts. */
  selector: string;
  insert: Insertion;
  /** Paths of the site that it is for; `*` stands for any characters. */
  paths: string[];
  /** The template that draws its banners, by its name. */
  template: string;
  /** Of its box, in CSS pixels. */
  height_px: number;
  /** Of its box where that is 48 rem wide or wider, in CSS pixels. Default: `height_px`. */
  wide_height_px?: number | undefined;
}

/** 200: all of the workspace. */
export interface PlacementsAnswer {
  placements: SelectorPlacement[];
}
