import { randomBytes } from 'node:crypto';
import type { RunSql } from '../operators/index.ts';

const READ = 'SELECT secret FROM secrets WHERE workspace_id = $1';
/** Another replica may have been faster. */
const ADD = 'INSERT INTO secrets (workspace_id, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING';

/** The secret of each workspace, which all replicas share. Its row also says that the database holds data of the workspace. */
export const createSecrets = (run: RunSql) => {
  const known = new Map<string, Promise<string>>();

  const read = async (workspaceId: string): Promise<string | undefined> => {
    const [row] = await run(READ, [workspaceId]);
    return row?.['secret'] as string | undefined;
  };

  const readOrMake = async (workspaceId: string): Promise<string> => {
    const stored = await read(workspaceId);
    if (stored !== undefined) return stored;
    const secret = randomBytes(32).toString('hex');
    await run(ADD, [workspaceId, secret]);
    return (await read(workspaceId)) ?? secret;
  };

  return (workspaceId: string): Promise<string> => {
    const secret = known.get(workspaceId) ?? readOrMake(workspaceId);
    known.set(workspaceId, secret);
    secret.catch(() => known.delete(workspaceId));
    return secret;
  };
};
