import { APP_ID } from '../../../helpers/a-workspace.ts';

/** Who sends a request: nobody in particular, a key of a type, or an operator of a role. */
export type Sender = 'nobody' | 'client' | 'server' | 'view' | 'edit' | 'publish' | 'admin';

/** A request that costs much. What changes something is another one each time: `n` counts up. */
export interface CostlyRequest {
  what: string;
  sender: Sender;
  /** Of the API key. Default `bench`. */
  workspace?: 'near';
  path: string | ((n: number) => string);
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: unknown;
  /** In the place of `body`. */
  bodyOf?: (n: number) => unknown;
  ifMatch?: string;
  /** Milliseconds of the main thread; `null` where the figure is only published. */
  aimMs: number | null;
  /** Milliseconds that /healthz may wait, if the work is done in many turns. */
  waitAimMs?: number;
}

/** What requests name that exists only once the service runs. */
export interface Known {
  bannerId: string;
  /** Of a banner whose click sets an attribute and records an event, sealed for `clicker`. */
  effectBannerId: string;
  /** Tokens of preview links: of a draft with many placements, and of one with long texts. */
  previewTokens: { placements: string; texts: string };
}

export const envelope = { external_user_id: 'u-1', app_id: APP_ID, app_version: '1' };
export const TIME = '2026-03-01T09:15:00.000Z';

export const list = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** Objects of which each has members of its own: a parser makes a shape for each. */
export const shapes = (count: number) =>
  Object.fromEntries(list(count, (at) => [`a${at.toString(36)}`, { [`b${at.toString(36)}`]: at }]));
