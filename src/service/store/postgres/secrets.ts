import { randomBytes } from 'node:crypto';
import type { Run } from './statement.ts';

/** The secret of each workspace, which all replicas share. Its row also says that the database holds data of the workspace. */
export const createSecrets = (run: Run) => {
  const known = new Map<string, Promise<string>>();

  const read = async (workspaceId: string): Promise<string | undefined> => {
    const [row] = await run<{ secret: string }>('SELECT secret FROM secrets WHERE workspace_id = $1', [
      workspaceId,
    ]);
    return row?.secret;
  };

  const readOrMake = async (workspaceId: string): Promise<string> => {
    const stored = await read(workspaceId);
    if (stored !== undefined) return stored;
    const secret = randomBytes(32).toString('hex');
    await run('INSERT INTO secrets (workspace_id, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      workspaceId,
      secret,
    ]);
    // Another replica may have been faster.
    return (await read(workspaceId)) ?? secret;
  };

  return (workspaceId: string): Promise<string> => {
    const secret = known.get(workspaceId) ?? readOrMake(workspaceId);
    known.set(workspaceId, secret);
    secret.catch(() => known.delete(workspaceId));
    return secret;
  };
};
