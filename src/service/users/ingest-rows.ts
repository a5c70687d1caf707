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

/**
 * Thrown with the first row that the stored profile of its user rejects, possibly only because of the rows before it. Nothing of
 * the batch is stored.
 */
export class RowRejectedError extends Error {
  override name = 'RowRejectedError';
  readonly index: number;
  readonly reason: string;

  constructor(index: number, reason: string) {
    super('The stored profile of a user rejects a row');
    this.index = index;
    this.reason = reason;
  }
}

const formatProfileError = (error: ProfileError): string =>
  error.array === 'attributes'
    ? error.errors.join('; ')
    : 'The user has too many names of events or products';

/**
 * Stores rows of one type in order. `extraStatements` run in the same transaction. Resolves with the number of erased users, because
 * a row may match no user. The write throws `RowRejectedError` if a row would be stored only in part.
 */
export const ingestMutation = (
  workspaceId: string,
  rows: readonly CheckedRow[],
  nowMs: number,
  extraStatements: readonly Statement[],
): UserMutation<number> => {
  const targets = rows.flatMap((row) => (row.kind === 'delete' ? [row.target] : []));
  if (targets.length > 0) return { ...deleteMutation(workspaceId, targets, nowMs), extraStatements };
  const attributes = rows.flatMap((row) => (row.kind === 'attributes' ? [row.checked] : []));
  const events = rows.flatMap((row) => (row.kind === 'event' ? [row.checked] : []));
  const mutation = trackMutation({ workspaceId, nowMs, attributes, events });
  return {
    ...mutation,
    apply(users) {
      const [first] = mutation.apply(users).toSorted((a, b) => a.index - b.index);
      if (first) throw new RowRejectedError(first.index, formatProfileError(first));
      return 0;
    },
    extraStatements,
  };
};
