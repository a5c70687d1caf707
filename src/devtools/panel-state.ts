import type { Diagnostics, Inspection } from '../client/index.ts';
import type { HistoryEntry } from './history.ts';

/** State that the panel's views render. */
export interface PanelState {
  inspection: Inspection;
  /** `null` until the outbox has been read. */
  diagnostics: Diagnostics | null;
  /** Oldest first. */
  history: readonly HistoryEntry[];
  now: number;
}
