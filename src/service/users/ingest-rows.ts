import { IDENTIFIERS, type InputArray } from '../../protocol/index.ts';
import type { Statement } from '../sql/row-readers.ts';
import type { UserMutation } from '../store/store.ts';
import { type CheckedAttributes, type CheckedEvent, checkAttributes, checkEvent } from './check-objects.ts';
import { deleteMutation, TARGETS } from './delete.ts';
import { createErrorCollector, type ErrorCollector } from './error-collector.ts';
import type { Target } from './targets.ts';
import { type ProfileError, trackMutation } from './track-mutation.ts';
import type { UserRules } from './user-rules.ts';

/** Valid row of an integration. */
export type CheckedRow =
  | { kind: 'attributes'; checked: CheckedAttributes }
  | { kind: 'event'; checked: CheckedEvent }
  | { kind: 'delete'; target: Target };

const checkObject = (
  type: InputArray,
  object: Record<string, unknown>,
  workspace: UserRules,
  nowMs: number,
  errors: ErrorCollector,
): CheckedRow | null => {
  if (type === 'attributes') {
    const checked = checkAttributes(object, workspace, errors);
    return checked && { kind: 'attributes', checked };
  }
  const checked = checkEvent(object, type, workspace, nowMs, errors);
  return checked && { kind: 'event', checked };
};

/**
 * Checks one row like a separate request to `/users/track` or `/users/delete`. A row is stored completely or not at all, so any
 * error rejects it.
 */
export const checkRow = (
  type: InputArray | 'deletes',
  object: Record<string, unknown>,
  workspace: UserRules,
  nowMs: number,
): CheckedRow | { reason: string } => {
  if (type === 'deletes') {
    const by = IDENTIFIERS.find((name) => (object[name] ?? null) !== null);
    const target = by && TARGETS[by].safeParse(object[by]).data;
    return target ? { kind: 'delete', target } : { reason: 'The row names no user' };
  }
  const errors = createErrorCollector();
  const row = checkObject(type, object, workspace, nowMs, errors);
  const reasons = [...new Set(errors.entries.map((entry) => entry.type))];
  return row && reasons.length === 0 ? row : { reason: reasons.join('; ') };
};

export interface RowsOutcome {
  /** Errors of rows that are not stored, or stored only in part. */
  profileErrors: readonly ProfileError[];
  /** Number of users erased. A row may match no user. */
  erased: number;
}

/** Stores rows of one type in order. `extraStatements` run in the same transaction. */
export const ingestMutation = (
  workspaceId: string,
  rows: readonly CheckedRow[],
  nowMs: number,
  extraStatements: readonly Statement[],
): UserMutation<RowsOutcome> => {
  const targets = rows.flatMap((row) => (row.kind === 'delete' ? [row.target] : []));
  const attributes = rows.flatMap((row) => (row.kind === 'attributes' ? [row.checked] : []));
  const events = rows.flatMap((row) => (row.kind === 'event' ? [row.checked] : []));
  if (targets.length === 0) {
    const { apply, ...work } = trackMutation({ workspaceId, nowMs, attributes, events });
    return { ...work, apply: (users) => ({ profileErrors: apply(users), erased: 0 }), extraStatements };
  }
  const { apply, ...work } = deleteMutation(workspaceId, targets, nowMs);
  return { ...work, apply: (users) => ({ profileErrors: [], erased: apply(users) }), extraStatements };
};
