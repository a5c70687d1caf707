import { isRecord } from '../../protocol/index.ts';
import type { DataEvent } from './data-event.ts';
import { type ColumnType, type DataEventName, dataEventType, type WebhookEventName } from './event-types.ts';

const seconds = (ms: number) => Math.floor(ms / 1_000);

/** Event that webhooks send. */
export interface WebhookEvent extends Omit<DataEvent, 'type' | 'userId'> {
  type: WebhookEventName;
  /** User of the event; `null` if none. */
  userId: string | null;
}

/** Formats an event in the format of the custom HTTP export of Currents. */
export const currentsEvent = ({
  type,
  id,
  timeMs,
  workspaceId,
  userId,
  externalId,
  properties,
}: WebhookEvent) => ({
  event_type: type,
  id,
  time: seconds(timeMs),
  time_ms: timeMs,
  ...(userId !== null && { user: { user_id: userId, external_user_id: externalId } }),
  properties: { app_group_id: workspaceId, ...properties },
});

/** Formats an event as CloudEvents 1.0 in the JSON format. */
export const cloudEvent = (event: WebhookEvent) => ({
  specversion: '1.0',
  id: event.id,
  source: `urn:placard:workspace:${encodeURIComponent(event.workspaceId)}`,
  type: event.type === 'placard.alert' ? event.type : dataEventType(event.type).cloudEvent,
  ...(event.userId !== null && { subject: event.externalId ?? event.userId }),
  time: new Date(event.timeMs).toISOString(),
  datacontenttype: 'application/json',
  data: currentsEvent(event),
});

/** Formats of webhook bodies, by the name in the workspace file. */
export const WEBHOOK_FORMATS = {
  currents: {
    contentType: 'application/json',
    body: (events: readonly WebhookEvent[]): string => JSON.stringify({ events: events.map(currentsEvent) }),
  },
  cloudevents: {
    contentType: 'application/cloudevents-batch+json; charset=UTF-8',
    body: (events: readonly WebhookEvent[]): string => JSON.stringify(events.map(cloudEvent)),
  },
} as const;
export type WebhookFormat = keyof typeof WEBHOOK_FORMATS;

const ENVELOPE = {
  id: 'string',
  user_id: 'string',
  external_user_id: 'string',
  app_group_id: 'string',
  time: 'int',
  time_ms: 'long',
} as const;

/** Returns the columns of an event in a file, in order. */
export const fileColumns = (type: DataEventName): [name: string, type: ColumnType][] =>
  Object.entries({ ...ENVELOPE, ...dataEventType(type).columns });

/** Returns an event as a row of a file, in the storage schema of Currents. */
export const fileRow = (event: DataEvent): Record<string, unknown> => {
  const { type, id, timeMs, workspaceId, userId, externalId, properties } = event;
  const { json } = dataEventType(type);
  const { [json ?? '']: object, ...others } = properties;
  return {
    id,
    user_id: userId,
    external_user_id: externalId,
    app_group_id: workspaceId,
    time: seconds(timeMs),
    time_ms: timeMs,
    ...others,
    ...(isRecord(object) && { properties: JSON.stringify(object) }),
  };
};
