import { hashId } from '../data-out/event-id.ts';
import type { WebhookEvent } from '../data-out/formats.ts';
import type { Alert, WebhookAlert } from './alert.ts';

/** Updates the known alerts of a webhook with the current alerts. Returns the same list if nothing changed. */
export const updateAlerts = (
  known: readonly WebhookAlert[],
  current: readonly Alert[],
  nowMs: number,
): readonly WebhookAlert[] => {
  const includesAlert = (all: readonly Alert[], { id }: Alert) => all.some((each) => each.id === id);
  const kept = known.flatMap((each): WebhookAlert[] => {
    if (includesAlert(current, each.alert) === (each.status === 'firing')) return [each];
    // Drops an alert that was never sent, because the receiver needs no resolution.
    if (each.status === 'firing')
      return each.isSent ? [{ ...each, status: 'resolved', sinceMs: nowMs, isSent: false }] : [];
    return [{ ...each, status: 'firing', sinceMs: nowMs, isSent: false }];
  });
  const knownAlerts = known.map(({ alert }) => alert);
  const added = current
    .filter((alert) => !includesAlert(knownAlerts, alert))
    .map((alert): WebhookAlert => ({ alert, status: 'firing', sinceMs: nowMs, isSent: false }));
  const isSame =
    added.length === 0 && kept.length === known.length && kept.every((each, index) => each === known[index]);
  return isSame ? known : [...kept, ...added];
};

/** Returns the alerts after the receiver accepted all of them. Omits resolved alerts. */
export const acceptedAlerts = (alerts: readonly WebhookAlert[]): WebhookAlert[] =>
  alerts.filter(({ status }) => status === 'firing').map((each) => ({ ...each, isSent: true }));

/** Formats an alert as an event. Its ID is the same for every attempt. */
export const alertEvent = (
  workspaceId: string,
  { alert: { id, type, subjectId, subjectName, message }, status, sinceMs }: WebhookAlert,
): WebhookEvent => ({
  type: 'placard.alert',
  id: hashId(workspaceId, 'alert', id, status, sinceMs),
  workspaceId,
  userId: null,
  externalId: null,
  timeMs: sinceMs,
  properties: {
    alert_id: id,
    alert_type: type,
    status,
    message,
    [type === 'integration_failed' ? 'integration_id' : 'campaign_id']: subjectId,
    [type === 'integration_failed' ? 'integration_name' : 'campaign_name']: subjectName,
  },
});
