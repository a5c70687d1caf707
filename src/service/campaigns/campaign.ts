import type { Conversion } from '../store/results.ts';
import type { Audience } from './audience.ts';
import type { Frequency } from './frequency.ts';
import type { WriteProperties } from './write-properties.ts';

export interface Variant {
  variantId: string;
  /** Share among the variants of its campaign; 0 is never drawn. */
  weight: number;
  expiresAfterSeconds: number | null;
  properties: WriteProperties;
}

/** A campaign of the workspace file after checking, its audience and templates compiled. */
export interface Campaign {
  campaignId: string;
  name: string;
  status: 'active' | 'draft' | 'stopped';
  placements: ReadonlySet<string>;
  priority: 'high' | 'medium' | 'low';
  /** Unix milliseconds, `null` for always. */
  startsAtMs: number | null;
  endsAtMs: number | null;
  /** `null` is everyone. */
  audience: Audience | null;
  /** 0 to 100. */
  controlPercentage: number;
  /** `null`: once dismissed, never again. */
  reeligibleAfterMs: number | null;
  testUsers: ReadonlySet<string>;
  /** What counts as a success, as its results are asked for. */
  conversions: readonly Conversion[];
  /** By which the workspace's tag caps limit campaigns together. */
  tags: ReadonlySet<string>;
  /** `null` without a limit. */
  frequency: Frequency | null;
  variants: readonly Variant[];
}
