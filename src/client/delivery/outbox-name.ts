import { fingerprint } from '../platform/keyring.ts';

/**
 * The database, and the channel between the tabs, of one app at one API: two apps on one origin (a shop and its
 * staging, a portal's widgets) never see, send or wipe each other's events.
 */
export const outboxName = (endpoint: string, appId: string): string =>
  `placard-outbox-${fingerprint(`${endpoint.replace(/\/+$/, '')}\n${appId}`)}`;
