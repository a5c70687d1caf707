import { randomBytes } from 'node:crypto';
import type { Run } from './statement.ts';

/** So long a secret is taken at its word. Behind the address there may be a restored database or a standby by now. */
const FRESH_MS = 5_000;

interface Known {
  secret: Promise<string>;
  askAgainAt: number;
}

/**
 * The secret of each workspace, which all its replicas share. Its row also says that the database holds data of the
 * workspace. What the database says goes: where it has lost the row, the one that is remembered is put back, so that
 * the banner IDs that pages have stay good.
 */
export const createSecrets = (run: Run, now: () => number = () => performance.now()) => {
  const known = new Map<string, Known>();

  const read = async (workspaceId: string): Promise<string | undefined> => {
    const [row] = await run<{ secret: string }>('SELECT secret FROM secrets WHERE workspace_id = $1', [
      workspaceId,
    ]);
    return row?.secret;
  };

  const readOrPut = async (workspaceId: string, secret: string): Promise<string> => {
    const stored = await read(workspaceId);
    if (stored !== undefined) return stored;
    await run('INSERT INTO secrets (workspace_id, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      workspaceId,
      secret,
    ]);
    return (await read(workspaceId)) ?? secret;
  };

  /** Nobody waits for it, and where it fails what is remembered goes on. */
  const askAgain = async (workspaceId: string, kept: Known): Promise<void> => {
    kept.askAgainAt = now() + FRESH_MS;
    const remembered = await kept.secret;
    const stored = await readOrPut(workspaceId, remembered);
    if (stored !== remembered) kept.secret = Promise.resolve(stored);
  };

  return {
    of(workspaceId: string): Promise<string> {
      const kept = known.get(workspaceId);
      if (kept) {
        if (now() >= kept.askAgainAt) askAgain(workspaceId, kept).catch(() => undefined);
        return kept.secret;
      }
      const secret = readOrPut(workspaceId, randomBytes(32).toString('hex'));
      known.set(workspaceId, { secret, askAgainAt: now() + FRESH_MS });
      secret.catch(() => known.delete(workspaceId));
      return secret;
    },
  };
};
