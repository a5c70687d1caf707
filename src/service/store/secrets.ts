import { randomBytes } from 'node:crypto';

export interface SecretRows {
  read(workspaceId: string): Promise<string | undefined>;
  /** Adds the row unless there is one by now. */
  add(workspaceId: string, secret: string): Promise<unknown>;
}

/** The secret of each workspace, which all replicas share. Its row also says that the database holds data of the workspace. */
export const createSecrets = ({ read, add }: SecretRows) => {
  const known = new Map<string, Promise<string>>();

  const readOrMake = async (workspaceId: string): Promise<string> => {
    const stored = await read(workspaceId);
    if (stored !== undefined) return stored;
    const secret = randomBytes(32).toString('hex');
    await add(workspaceId, secret);
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
