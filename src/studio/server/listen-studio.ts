import { type Log, type ServedPort, servePort } from '../../service/index.ts';
import type { Studio } from './create-studio.ts';

const REQUEST_TIMEOUT_MS = 30_000;
const LINGER_MS = 50;
const DRAIN_MS = 2_000;

/** Serves the Studio on a port of its own: another origin than the API, so that no page there can act here. The store stays open when it stops. */
export const listenStudio = (
  studio: Studio,
  { port = 8788, ...options }: { port?: number; host?: string; log?: Log } = {},
): Promise<ServedPort> =>
  servePort(studio.handle, {
    port,
    ...options,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    lingerMs: LINGER_MS,
    drainMs: DRAIN_MS,
  });
