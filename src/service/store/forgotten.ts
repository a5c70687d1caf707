/** What was dropped, or would be, with events older than a moment. */
export interface Forgotten {
  table: 'events' | 'banner_events';
  /** A partition that was dropped whole, or the table that rows were deleted from. */
  partition: string;
  rows: number;
  /** Counted before it was dropped: rows that came in between went with it. */
  isAbout?: true;
}

/** What goes with old events, for people to read before they drop them. */
export const WHAT_IS_FORGOTTEN = `Events, purchases and banner events that are dropped are in no export any more.
What users have done stays counted in their profiles: how often, first and last time, revenue. Dismissals stay.
A banner event that is sent again after it was dropped is stored as a new one.`;
