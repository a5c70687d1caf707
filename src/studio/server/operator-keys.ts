import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Operator, Registry, Workspace } from '../../service/index.ts';

const PREFIX = 'op_';
const KEY_BYTES = 32;
const MAX_KEY_CHARACTERS = 200;

export interface KeyHolder {
  operator: Operator;
  workspace: Workspace;
}

const sha256 = (key: string) => createHash('sha256').update(key).digest();

/** A new key, and what the workspace file keeps of it. */
export const newOperatorKey = (): { key: string; sha256: string } => {
  const key = PREFIX + randomBytes(KEY_BYTES).toString('base64url');
  return { key, sha256: sha256(key).toString('hex') };
};

/** Whose key it is. Every operator is looked at, in constant time: how long it takes tells nothing. */
export const operatorWithKey = ({ workspaces }: Registry, key: string): KeyHolder | null => {
  if (key.length > MAX_KEY_CHARACTERS) return null;
  const presented = sha256(key);
  let found: KeyHolder | null = null;
  for (const workspace of workspaces) {
    for (const operator of workspace.operators) {
      if (operator.hash && timingSafeEqual(operator.hash, presented)) found = { operator, workspace };
    }
  }
  return found;
};
