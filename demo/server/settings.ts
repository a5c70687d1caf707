import { fileURLToPath } from 'node:url';

const inRepository = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** A variable of the environment that cannot be used; the message says which. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Where the demo runs and what it runs on, from the environment. A variable that is set to nothing is not set. */
export const readSettings = (env: NodeJS.ProcessEnv) => {
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
    db: env['PLACARD_DB'] || inRepository('.placard/demo.db'),
    workspaceFile: env['PLACARD_WORKSPACE'] || inRepository('demo/workspace.json'),
    built: inRepository('dist/demo'),
    sources: inRepository('demo'),
  };
};
