import { FATAL, isRecord, USER_TOKEN_HEADER, USER_TOKEN_MEMBER } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
import type { Workspace } from '../workspace/workspace.ts';

/**
 * Throws a 401 where the app wants proof of the user, and the body has none that holds. What is wrong with the rest of
 * the body is the route's to say.
 */
export const proveUser = async (workspace: Workspace, body: unknown, nowMs: number): Promise<void> => {
  if (workspace.userTokens.size === 0 || !isRecord(body)) return;
  const { app_id: appId, external_user_id: userId, [USER_TOKEN_MEMBER]: token } = body;
  const tokens = typeof appId === 'string' ? workspace.userTokens.get(appId) : undefined;
  if (!tokens || typeof userId !== 'string') return;
  const fault = await tokens.judge(token, userId, nowMs);
  if (fault) throw new HttpError(401, FATAL.invalidUserToken, { headers: { [USER_TOKEN_HEADER]: fault } });
};
