import { randomBytes } from 'node:crypto';
import type { CommitQueue } from './commit-queue.ts';
import type { Reader } from './reader.ts';

/** The secret of each workspace. Its row also says that the file holds data of the workspace. */
export const createSecrets = (reader: Reader, queue: CommitQueue) => {
  const known = new Map<string, string>();

  /** Sees to it that there is a secret once the group that is open is stored. */
  const register = (workspaceId: string): void => {
    if (known.has(workspaceId)) return;
    const secret = reader.secret(workspaceId);
    if (secret === undefined) queue.group().secrets.push(workspaceId, randomBytes(32).toString('hex'));
    else known.set(workspaceId, secret);
  };

  return {
    register,
    async of(workspaceId: string): Promise<string> {
      const cached = known.get(workspaceId);
      if (cached !== undefined) return cached;
      register(workspaceId);
      const stored = known.get(workspaceId);
      if (stored !== undefined) return stored;
      await queue.durable();
      const secret = reader.secret(workspaceId)!;
      known.set(workspaceId, secret);
      return secret;
    },
  };
};
