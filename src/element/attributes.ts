import type { Placard, PlacementHook } from '../client/index.ts';

/** What `<placard-banner>` takes in a template: two attributes, and two properties of the element. */
export interface PlacardBannerAttributes {
  /** The placement to show. */
  placement?: string;
  /** The name of a template, such as `hero`, where the element has no hook of its own. */
  template?: string;
  /** This element's own client. Default: the one that `providePlacard` was given. */
  placard?: Placard | null;
  /** This element's own hook. Default: the one that `template` names. */
  hook?: PlacementHook | null;
}
