import { backoffMs } from '../../platform/backoff.ts';
import { isAhead, MAX_WAIT_MS } from '../../platform/deadline.ts';
import type { DeliveryContext } from '../context.ts';
import type { BatchOutcome } from '../http/index.ts';
import { type Control, noWait } from '../log/index.ts';

/** Requests in a row that are refused without the name of an event, before the next one waits. */
const MAX_REFUSALS = 8;

/** Until when all tabs wait after this outcome, where `before` says until when they wait now. */
export const waitAfter = (
  { clock, random }: DeliveryContext,
  before: Control['wait'],
  { type, wait, skipped }: BatchOutcome,
): Control['wait'] => {
  const now = clock.now();
  // No tab sends before the time that the server named, whatever other requests under way are answered.
  const isLimited = before.reason === 'rate-limit' && isAhead(before.until, now, MAX_WAIT_MS);
  if (type === 'confirmed') return isLimited ? before : noWait();

  const isNoEventAtFault = type === 'refused' && skipped.length === 0;
  if (wait === undefined && !isNoEventAtFault) return before;
  const failures = before.failures + 1;
  // A server that refuses so many requests in a row refuses them for something else than an event.
  const pause =
    wait ?? (failures >= MAX_REFUSALS ? { reason: 'backoff' as const, ms: undefined } : undefined);
  const until = now + (pause?.ms ?? backoffMs(failures, random));
  const keepsBefore =
    pause === undefined || (isLimited && (pause.reason !== 'rate-limit' || until < before.until));
  return keepsBefore ? { ...before, failures } : { until, reason: pause.reason, failures, endedEarly: false };
};
