import { type Identity, isRecord, readUserEvent } from '../../protocol/index.ts';
import type { StoredEvent } from '../profiles/events.ts';
import { setOwn } from '../profiles/own.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Problems } from './problems.ts';

/** An event or a purchase that passed every check. */
export interface CheckedEvent {
  identity: Identity;
  /** As it will be stored, but for its user, who is not known yet. */
  event: StoredEvent;
}

/** Objects inside a purchase's properties are kept as their JSON text. */
const asText = (value: unknown): unknown => {
  if (isRecord(value)) return JSON.stringify(value);
  return Array.isArray(value) ? value.map(asText) : value;
};

const withTexts = (properties: Record<string, unknown>): Record<string, unknown> => {
  const texts: Record<string, unknown> = {};
  for (const key of Object.keys(properties)) setOwn(texts, key, asText(properties[key]));
  return texts;
};

/** Checks one object of `events` or `purchases`; `null` where it is rejected, with every reason in `problems`. */
export const checkEvent = (
  object: unknown,
  kind: 'event' | 'purchase',
  workspace: Workspace,
  nowMs: number,
  problems: Problems,
): CheckedEvent | null => {
  const read = readUserEvent(object, kind, workspace.blockedExternalIds, problems);
  if (read === null) return null;
  const { identity, name, properties = null, purchase } = read;
  const { app_id } = object as Record<string, unknown>;
  const ofUser = {
    externalId: null,
    userId: 0,
    appId: typeof app_id === 'string' && workspace.appIds.has(app_id) ? app_id : null,
    // Nothing has happened in the future: such a time is replaced by now.
    timeMs: Math.min(read.timeMs, nowMs),
    receivedAtMs: nowMs,
  };
  const event: StoredEvent = purchase
    ? {
        kind: 'purchase',
        productId: name,
        ...purchase,
        ...ofUser,
        properties: properties && withTexts(properties),
      }
    : { kind: 'event', name, ...ofUser, properties };
  return { identity, event };
};
