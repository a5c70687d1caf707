import { isRecord, USER_TOKEN_MEMBER } from '../../protocol/index.ts';
import { unproven } from '../user-tokens/unproven.ts';
import type { Workspace } from '../workspace/workspace.ts';

/**
 * Throws a 401 where the app wants proof of the user and the body has none that holds. The route checks the rest of the
 * body.
 */
export const proveUser = async (workspace: Workspace, body: unknown, nowMs: number): Promise<void> => {
  if (!isRecord(body)) return;
  const { app_id: appId, external_user_id: userId, [USER_TOKEN_MEMBER]: token } = body;
  if (typeof appId !== 'string' || typeof userId !== 'string') return;
  const fault = await workspace.userTokens.get(appId)?.judge(token, userId, nowMs);
  if (fault) throw unproven(appId, fault);
};
