import type { DataEvent } from '../service/index.ts';

/** Events of consecutive rows. */
interface Batch {
  workspaceId: string | undefined;
  events: DataEvent[];
  /** Cursor before the first row, as text. */
  from: string;
  /** Cursor after the last row, as text. */
  through: string;
}

/** Receiver of `placard stream`. */
export interface Sink {
  /** Maximum rows of a batch. */
  rows: number;
  /** Poll interval in milliseconds. */
  pollMs: number;
  /** Prepares the receiver, and returns the cursor that it stores with the rows. Omitted if it stores none. */
  readCursor?(workspaceId: string | undefined): Promise<string | undefined>;
  /** Writes a batch. Resolves when the receiver has stored it durably. */
  write(batch: Batch, signal: AbortSignal): Promise<void>;
  close(): void | Promise<void>;
}
