/** Problem of a campaign or an integration, derived from results and runs. Not stored, except as what a webhook was told. */
export interface Alert {
  /** Stable while the problem lasts, for example `no_impressions:spring`. */
  id: string;
  type: 'sample_ratio_mismatch' | 'no_impressions' | 'campaign_halted' | 'integration_failed';
  /** Campaign or integration. */
  subjectId: string;
  subjectName: string;
  /** Problem and fix. */
  message: string;
}

/** Alert that a webhook was told, or is to be told. */
export interface WebhookAlert {
  alert: Alert;
  status: 'firing' | 'resolved';
  /** When the status was first seen, in Unix milliseconds. */
  sinceMs: number;
  isSent: boolean;
}
