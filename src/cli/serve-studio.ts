import type { Log, ReleasedSource, ServedPort, Store } from '../service/index.ts';
import { builtPages, createStudio, listenStudio } from '../studio/index.ts';
import { portOf } from './options.ts';

interface ServeStudioOptions {
  args: Record<string, unknown>;
  env: NodeJS.ProcessEnv;
  workspaces: ReleasedSource;
  store: Store;
  log: Log;
}

/** Serves the Studio beside the API where a port is named for it; `null` where none is. */
export const serveStudio = async ({
  args,
  env,
  workspaces,
  store,
  log,
}: ServeStudioOptions): Promise<ServedPort | null> => {
  const choose = (name: string, variable: string): string | undefined =>
    (args[name] as string | undefined) ?? (env[variable] || undefined);
  const port = choose('studio-port', 'PLACARD_STUDIO_PORT');
  if (port === undefined) return null;
  const publicUrl = choose('studio-url', 'PLACARD_STUDIO_URL');
  if (publicUrl !== undefined && !/^https?:/.test(publicUrl)) {
    throw new Error(`--studio-url must be a URL such as https://studio.example, got "${publicUrl}"`);
  }
  if (!workspaces.registry().workspaces.some(({ operators }) => operators.length > 0)) {
    log.warn({}, 'the Studio has no operators: make one with "placard operator new"');
  }
  const studio = createStudio({
    workspaces,
    store,
    pages: builtPages(),
    log,
    ...(publicUrl !== undefined && { publicUrl }),
  });
  const host = choose('studio-host', 'PLACARD_STUDIO_HOST') ?? '127.0.0.1';
  const trustedProxies = choose('trusted-proxies', 'PLACARD_TRUSTED_PROXIES') ?? '';
  const listening = await listenStudio(studio, { port: portOf(port), host, log, trustedProxies });
  log.info({ url: publicUrl ?? listening.url }, 'Studio listening');
  return listening;
};
