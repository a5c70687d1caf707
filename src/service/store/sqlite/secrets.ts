import { randomBytes } from 'node:crypto';
import type { Committer } from './commit.ts';
import type { Reader } from './reader.ts';
import { secretRows } from './rows.ts';

/** The secret of each workspace. Its row also says that the file holds data of the workspace. */
export const createSecrets = (reader: Reader, committer: Committer) => {
  const known = new Map<string, Promise<string>>();

  const readOrMake = async (workspaceId: string): Promise<string> => {
    const stored = reader.secret(workspaceId);
    if (stored !== undefined) return stored;
    const secret = randomBytes(32).toString('hex');
    await committer.commit([secretRows(workspaceId, secret)]);
    return secret;
  };

  return (workspaceId: string): Promise<string> => {
    const secret = known.get(workspaceId) ?? readOrMake(workspaceId);
    known.set(workspaceId, secret);
    secret.catch(() => known.delete(workspaceId));
    return secret;
  };
};
