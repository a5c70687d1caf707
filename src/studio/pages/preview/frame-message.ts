/** What the editor tells the frame to draw. */
export interface FrameRequest {
  type: 'placard:preview';
  template: 'strip' | 'card' | 'hero';
  /** `null`: nothing can be drawn. */
  properties: Record<string, { type: string; value: unknown }> | null;
  scheme: 'light' | 'dark';
  isRightToLeft: boolean;
  isLargeText: boolean;
  hasLongWords: boolean;
  /** Where paths of images and links lead; `null` where no site is known. */
  site: string | null;
}

/** Something that the page would do without, or cut, by the property it is about. */
export interface FrameProblem {
  property: string;
  words: string;
}

/** What the frame answers: it can draw now, or it has drawn. */
export type FrameReport =
  | { type: 'placard:preview-ready' }
  | { type: 'placard:preview-drawn'; height: number; problems: FrameProblem[] };
