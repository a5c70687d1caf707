import { fileURLToPath } from 'node:url';

const inRepository = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Thrown for an invalid environment variable. The message contains its name. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Returns the settings from the environment and `--empty`, which skips sample data. Empty variables count as unset. */
export const readSettings = (env: NodeJS.ProcessEnv, args: readonly string[]) => {
  const unknown = args.find((each) => each !== '--empty');
  if (unknown !== undefined) throw new SettingsError(`${unknown}: the demo knows one option, --empty`);
  const isEmpty = args.length > 0;
  const portIn = (name: string, otherwise: number): number => {
    const port = Number(env[name] || otherwise);
    if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
    throw new SettingsError(`${name}: expected a number from 0 to 65535, got "${env[name]}"`);
  };
  const port = portIn('PORT', 8787);
  return {
    port,
    studioPort: portIn('STUDIO_PORT', port === 0 ? 0 : port + 1),
    host: env['HOST'] || '127.0.0.1',
    db: env['PLACARD_DB'] || inRepository(isEmpty ? '.placard/empty.db' : '.placard/demo.db'),
    workspaceFile: env['PLACARD_WORKSPACE'] || inRepository('demo/workspace.json'),
    // Skips sample data for another workspace, because the data belongs to the demo's own campaigns.
    makesMonth: !isEmpty && !env['PLACARD_WORKSPACE'],
    built: inRepository('dist/demo'),
    sources: inRepository('demo'),
  };
};
