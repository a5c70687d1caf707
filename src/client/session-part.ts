import type { SyncScheduler } from './banners/sync-scheduler.ts';
import type { DeferredContext } from './deferred-context.ts';
import type { PlacementHook } from './placement-hook.ts';

/** Context of an addition that runs while a user is known. */
export interface SessionPartOptions extends DeferredContext {
  scheduler: SyncScheduler;
  /** Templates by name; only with `selectors()`. */
  hooks?: Readonly<Record<string, PlacementHook>>;
}

export interface SessionAddition {
  /** Imports a `SessionPartChunk`. Absent if the addition has no part in sessions. */
  load?: () => Promise<unknown>;
}

/** Addition that runs while a user is known. */
export interface SessionPart {
  /** Called when the session of a user begins. */
  start(): unknown;
  stop(): void;
}

export interface SessionPartChunk {
  create(options: SessionPartOptions): SessionPart;
}
