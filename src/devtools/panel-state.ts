import type { Diagnostics, Inspection } from '../client/index.ts';
import type { HistoryEntry } from './history.ts';

/** What every view of the panel draws from. */
export interface PanelState {
  inspection: Inspection;
  /** `null` until the outbox has answered. */
  diagnostics: Diagnostics | null;
  /** Oldest first. */
  history: readonly HistoryEntry[];
  now: number;
}
