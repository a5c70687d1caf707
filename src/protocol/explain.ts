/** Ours: no other server has it. */
export const EXPLAIN_PATH = '/placard/explain';

/** A part of an audience filter that the user does not fit. */
export interface FailingClause {
  /** Where it is in the campaign: `audience.tier`, `audience.$and[1].country`. */
  clause: string;
  /** What the filter has there. */
  expected: unknown;
  /** What the user has, where the clause compares one text, number or boolean; `null` where they have nothing. */
  actual?: unknown;
}

/** `bucket` is where the user falls from 0 to 100: below `control_percentage` they are held out. */
interface Bucketing {
  bucket: number;
  control_percentage: number;
}

/** The outcome of one campaign in one placement, with the facts behind it. */
export type Reason =
  | ({ outcome: 'shown'; banner_id: string; variant_id: string; is_test_send: boolean } & Bucketing)
  /** It has the placement, and nothing is shown there. `is_of_all`: by the holdout over all campaigns. */
  | ({ outcome: 'held_out'; banner_id: string; is_of_all?: true | undefined } & Bucketing)
  | { outcome: 'not_running'; status: string }
  | { outcome: 'out_of_time'; starts_at: string | null; ends_at: string | null }
  | { outcome: 'not_in_audience'; clauses: FailingClause[] }
  /** `again_at` is `null` where it is never shown again. */
  | { outcome: 'dismissed'; dismissed_at: string; again_at: string | null }
  /** By which limit of `frequency`, or the tag cap of which tag; `again_at` is `null` where it is never shown again. */
  | {
      outcome: 'capped';
      limit: string;
      tag?: string | undefined;
      max: number;
      count: number;
      again_at: string | null;
    }
  /** `by` is the ID of the campaign that has the placement. */
  | { outcome: 'outranked'; by: string }
  | { outcome: 'unfilled'; variant_id: string | null; property: string | null; problem: string };

/** `why` is the outcome as a sentence for people, without its subject: the campaign. */
export type CampaignExplanation = { campaign_id: string; name: string; why: string } & Reason;

/** Whom to explain, and for which placements. */
export interface ExplainRequest {
  external_user_id: string;
  /** Default the only app of the workspace. */
  app_id?: string | undefined;
  app_version?: string | undefined;
  device_id?: string | undefined;
  /** Default every placement that a campaign names. */
  placements?: string[] | undefined;
}

/** 200: by placement all its campaigns, in the order in which they are considered. */
export interface ExplainAnswer {
  /** Whether the service has a profile of the user. */
  has_profile: boolean;
  placements: Record<string, CampaignExplanation[]>;
}
