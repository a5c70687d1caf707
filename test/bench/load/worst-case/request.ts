import { APP_ID } from '../../../helpers/a-workspace.ts';

/** Sender of a request: anonymous, an API key of a type, or an operator with a role. */
export type Sender = 'nobody' | 'client' | 'server' | 'view' | 'edit' | 'publish' | 'admin';

/** An expensive request. Writes differ each time by `n`. */
export interface CostlyRequest {
  what: string;
  sender: Sender;
  /** Workspace of the API key. Default `bench`. */
  workspace?: 'near';
  path: string | ((n: number) => string);
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: unknown;
  /** Instead of `body`. */
  getBody?: (n: number) => unknown;
  ifMatch?: string;
  /** Number of measurements, if later ones would be cheaper. Each sends two requests. */
  rounds?: number;
  /** Target in milliseconds of the main thread; `null` if the figure has no target. */
  aimMs: number | null;
  /** Target for the latency of /healthz in milliseconds, if the work yields to the event loop. */
  waitAimMs?: number;
}

/** IDs that exist only once the service runs. */
export interface Known {
  bannerId: string;
  /** Banner ID of the user `clicker`; a click sets an attribute and logs an event. */
  effectBannerId: string;
  /** Preview tokens of a draft with many placements and of one with long texts. */
  previewTokens: { placements: string; texts: string };
}

export const envelope = { external_user_id: 'u-1', app_id: APP_ID, app_version: '1' };
export const TIME = '2026-03-01T09:15:00.000Z';

export const list = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** Objects with distinct keys, for each of which the JSON parser creates a hidden class. */
export const shapes = (count: number) =>
  Object.fromEntries(list(count, (at) => [`a${at.toString(36)}`, { [`b${at.toString(36)}`]: at }]));
