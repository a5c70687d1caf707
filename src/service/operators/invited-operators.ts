import { ROLES } from '../../protocol/index.ts';
import type { RunSql } from '../sql/row-readers.ts';
import { bigint, converted, defineTable, enumText, int, orNull, type RowOf, text } from '../sql/table.ts';
import { createInsert } from '../sql/writes.ts';

export const INVITED_OPERATORS = defineTable(
  'invited_operators',
  {
    workspaceId: text('workspace_id'),
    name: text('name'),
    role: enumText('role', ROLES),
    /** 1 or 0, because the databases have no common Boolean. */
    canViewUsers: converted(int('can_view_users'), Boolean, Number),
    /** SHA-256 of the link's token in hexadecimal digits. */
    tokenHash: text('token_hash'),
    /** SHA-256 of the operator's key in hexadecimal digits; `null` until the invitation is accepted. */
    keyHash: orNull(text('key_hash')),
    /** Time when the link expires. */
    expiresAtMs: bigint('expires_at_ms'),
    invitedBy: text('invited_by'),
  },
  { key: 'workspace_id, name' },
);

/** Operator that an admin invited in the Studio. Those of the workspace file are not stored. */
export type InvitedOperator = RowOf<typeof INVITED_OPERATORS>;

export interface InvitedOperatorStore {
  /** Returns the invited operators of a workspace by name, including those who have not accepted. */
  invitedOperators(workspaceId: string): Promise<InvitedOperator[]>;
  /** Returns the operator whose key has this hash; `null` if none. */
  operatorByKey(keyHash: string): Promise<InvitedOperator | null>;
  /** Adds an invitation. Returns false if the workspace has an operator with this name. */
  inviteOperator(operator: InvitedOperator): Promise<boolean>;
  /** Sets the key of the operator whose link has this token. Returns `null` if it is unknown, expired or was accepted. */
  acceptInvitation(tokenHash: string, keyHash: string, nowMs: number): Promise<InvitedOperator | null>;
  /** Removes an operator or an invitation. Returns false if there is none. */
  removeOperator(workspaceId: string, name: string): Promise<boolean>;
}

const addOperator = createInsert(INVITED_OPERATORS, ' ON CONFLICT DO NOTHING RETURNING name');

export const createInvitedOperatorStore = (run: RunSql): InvitedOperatorStore => ({
  async invitedOperators(workspaceId) {
    const sql = 'SELECT * FROM invited_operators WHERE workspace_id = $1 ORDER BY name';
    return (await run(sql, [workspaceId])).map(INVITED_OPERATORS.read);
  },

  async operatorByKey(keyHash) {
    const [row] = await run('SELECT * FROM invited_operators WHERE key_hash = $1', [keyHash]);
    return row ? INVITED_OPERATORS.read(row) : null;
  },

  async inviteOperator(operator) {
    const { sql, values } = addOperator(operator);
    return (await run(sql, values)).length > 0;
  },

  async acceptInvitation(tokenHash, keyHash, nowMs) {
    const [row] = await run(
      `UPDATE invited_operators SET key_hash = $1
       WHERE token_hash = $2 AND key_hash IS NULL AND expires_at_ms > $3 RETURNING *`,
      [keyHash, tokenHash, nowMs],
    );
    return row ? INVITED_OPERATORS.read(row) : null;
  },

  async removeOperator(workspaceId, name) {
    const sql = 'DELETE FROM invited_operators WHERE workspace_id = $1 AND name = $2 RETURNING name';
    return (await run(sql, [workspaceId, name])).length > 0;
  },
});
