/** Placard extension, not part of the contract. */
export const EXPLAIN_PATH = '/placard/explain';

/** Clause of an audience filter that excludes the user. */
export interface FailingClause {
  /** Path in the campaign: `audience.tier`, `audience.$and[1].country`. */
  clause: string;
  /** Condition of the filter. */
  expected: unknown;
  /** Value of the user if the clause compares a single value; `null` if the user has no value. */
  actual?: unknown;
}

/** `bucket` is from 0 to 100. A user with a bucket below `control_percentage` is held out. */
interface Bucketing {
  bucket: number;
  control_percentage: number;
}

/** Outcome of one campaign in one placement, with its details. */
export type Reason =
  | ({ outcome: 'shown'; banner_id: string; variant_id: string; is_test_send: boolean } & Bucketing)
  /**
   * The campaign is selected for the placement, but shows nothing to this user. `by_holdout`: the workspace holdout excludes the
   * user.
   */
  | ({ outcome: 'held_out'; banner_id: string; by_holdout?: true | undefined } & Bucketing)
  | { outcome: 'inactive'; status: string }
  | { outcome: 'outside_schedule'; starts_at: string | null; ends_at: string | null }
  | { outcome: 'not_in_audience'; clauses: FailingClause[] }
  /** `eligible_again_at` is `null` if never. */
  | { outcome: 'dismissed'; dismissed_at: string; eligible_again_at: string | null }
  /** `limit` is one of `frequency`, or `tag` for a tag cap. `eligible_again_at` is `null` if never. */
  | {
      outcome: 'frequency_capped';
      limit: string;
      tag?: string | undefined;
      max: number;
      count: number;
      eligible_again_at: string | null;
    }
  | { outcome: 'outranked'; winning_campaign_id: string }
  | { outcome: 'render_failed'; variant_id: string | null; property: string | null; problem: string };

/** `message` describes the outcome as a clause whose subject is the campaign. */
export type CampaignExplanation = { campaign_id: string; name: string; message: string } & Reason;

/** Body of `POST /placard/explain`. */
export interface ExplainRequest {
  external_user_id: string;
  /** Default: the only app of the workspace. */
  app_id?: string | undefined;
  app_version?: string | undefined;
  device_id?: string | undefined;
  /** Default: all placements that campaigns use. */
  placements?: string[] | undefined;
}

/** Response 200: the campaigns of each placement, in order of evaluation. */
export interface ExplainResult {
  /** Whether the user has a profile. */
  has_profile: boolean;
  placements: Record<string, CampaignExplanation[]>;
}
