import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { DAY_MS } from '../../../protocol/index.ts';
import { HttpError, operatorFile } from '../../../service/index.ts';
import { created, del, iso, post } from '../route.ts';

const LINK_MS = 3 * DAY_MS;
const TOKEN_BYTES = 32;

const inviteBody = operatorFile.pick({ name: true, role: true }).extend({
  can_view_users: z.boolean(),
  /** Key of the admin, so that a stolen session cannot add operators. */
  key: z.string().trim().min(1).max(200),
});

/** Invites an operator. Returns the token of the link, which is stored only as a hash. */
export const inviteOperator = post('/api/operators', 'admin', inviteBody, async (context) => {
  const { workspace, studio, operator, body, nowMs, audit } = context;
  const { name, role, can_view_users: canViewUsers } = body;
  if (operator.hash === null) throw new HttpError(403, 'Sign in with an operator key to invite operators');
  const presented = hash('sha256', body.key, 'buffer');
  if (!timingSafeEqual(operator.hash, presented)) throw new HttpError(403, 'Wrong operator key');
  if (canViewUsers && !operator.canViewUsers) {
    throw new HttpError(403, 'You cannot view users, so you cannot let others view them');
  }
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const invited = {
    workspaceId: workspace.workspaceId,
    name,
    role,
    canViewUsers,
    tokenHash: hash('sha256', token),
    keyHash: null,
    expiresAtMs: nowMs + LINK_MS,
    invitedBy: operator.name,
  };
  const isTaken = workspace.operators.some((each) => each.name === name);
  if (isTaken || !(await studio.inviteOperator(invited))) {
    throw new HttpError(409, `An operator is named “${name}”. Remove them first, or choose another name`);
  }
  await audit('operator.invite', name, `${role}${canViewUsers ? ', can view users' : ''}`);
  return created({ token, expiresAt: iso(invited.expiresAtMs) });
});

/** Removes an invited operator, whose sessions end at their next request, or an invitation. */
export const removeOperator = del('/api/operators/{name}', 'admin', async (context) => {
  const { workspace, studio, params, audit } = context;
  const name = params['name']!;
  if (!(await studio.removeOperator(workspace.workspaceId, name)))
    throw new HttpError(404, 'No invited operator has this name');
  await audit('operator.remove', name);
});
