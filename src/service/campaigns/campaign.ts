import type { PropertyType } from '../../protocol/index.ts';
import type { AudienceMember } from './audience-member.ts';
import type { PersonaliseContext } from './personalise-context.ts';

/** Fills in a property's value for one user; throws where its template cannot be rendered. */
export type Fill = (context: PersonaliseContext) => unknown;

/** A property as an answer carries it, or what makes it for one user. */
export type Property =
  | { name: string; ready: { type: PropertyType; value: unknown } }
  | { name: string; type: PropertyType; fill: Fill };

export interface Variant {
  variantId: string;
  /** Share among the variants of its campaign; 0 is never drawn. */
  weight: number;
  expiresAfterSeconds: number | null;
  properties: readonly Property[];
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
  audience: ((member: AudienceMember) => boolean) | null;
  /** 0 to 100. */
  controlPercentage: number;
  /** `null`: once dismissed, never again. */
  reeligibleAfterMs: number | null;
  testUsers: ReadonlySet<string>;
  variants: readonly Variant[];
}
