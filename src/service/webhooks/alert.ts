/** Problem of a campaign or an integration, derived from results and runs. Stored only in the state of webhooks. */
export interface Alert {
  /** ID such as `no_impressions:spring`, which stays the same while the problem lasts. */
  id: string;
  type:
    | 'sample_ratio_mismatch'
    | 'goal_below_control'
    | 'no_impressions'
    | 'campaign_halted'
    | 'integration_failed';
  /** ID of the campaign or integration. */
  subjectId: string;
  subjectName: string;
  /** Message with the problem and the fix. */
  message: string;
}

/** Alert that was sent to a webhook, or is pending. */
export interface WebhookAlert {
  alert: Alert;
  status: 'firing' | 'resolved';
  /** Time at which the status was first seen, in Unix milliseconds. */
  sinceMs: number;
  isSent: boolean;
}
