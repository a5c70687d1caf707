import { isRecord } from './record.ts';

/** The members that a client reads of any 2xx: a proxy answers something else, and another server may leave members out. */
export interface TrackSuccess {
  events_processed: number | undefined;
  message: string | undefined;
  /** A list, unless the server has sent something else. */
  errors: unknown;
}

/** `undefined` where the body is no answer to `banners/track`. */
export const readTrackSuccess = (body: unknown): TrackSuccess | undefined => {
  if (!isRecord(body)) return undefined;
  const { events_processed, message, errors } = body;
  const isCount = events_processed == null || Number.isFinite(events_processed);
  if (!isCount || (message !== undefined && typeof message !== 'string')) return undefined;
  return { events_processed: (events_processed as number | null) ?? undefined, message, errors };
};
