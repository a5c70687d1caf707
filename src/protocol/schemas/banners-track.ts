import * as z from 'zod/mini';
import { EVENT_TYPES, type WireEvent } from '../banners-track.ts';
import { ERROR_MESSAGES, required } from '../errors.ts';
import { isPresent } from '../json.ts';
import { MAX_BUTTON_ID, MAX_TRACK_BATCH, MAX_TRACK_EVENTS } from '../limits.ts';
import { isStorableText } from '../text.ts';
import { parseInstant } from '../timestamp.ts';
import { isVisitorId } from '../user-token.ts';
import { described, envelope, missingOrWrong } from './body.ts';

/** Messages in `type` of `errors`. */
export const EVENT_ERROR = {
  notAnObject: 'Event must be an object',
  invalidId: "Invalid 'id'",
  invalidEventType: `Invalid event_type. Valid types are: ${EVENT_TYPES.join(', ')}.`,
  invalidTimestamp: 'Invalid timestamp',
  invalidButtonId: "Invalid 'button_id'",
} as const;

/** Creates the error message of an invalid event property. */
const fault =
  (name: string, wrong: string) =>
  ({ input }: { input?: unknown }): string =>
    isPresent(input) ? wrong : required(name);
const idFault = fault('id', EVENT_ERROR.invalidId);
const timeFault = fault('timestamp', EVENT_ERROR.invalidTimestamp);

/** Banner event. The message of its first issue is the error in the response. */
export const wireEvent: z.ZodMiniType<WireEvent> = z.object(
  {
    id: z.string({ error: idFault }).check(
      z.refine((id) => id !== '' && isStorableText(id), { error: idFault }),
      z.meta({ minLength: 1, description: 'ID of the banner, from a sync.' }),
    ),
    event_type: z
      .enum(EVENT_TYPES, { error: fault('event_type', EVENT_ERROR.invalidEventType) })
      .check(described('What happened.')),
    // Millisecond precision, as sent by SDKs. Events with equal type, user, banner and millisecond are duplicates (contract 8).
    timestamp: z.string({ error: timeFault }).check(
      z.refine((time) => parseInstant(time) !== null, { error: timeFault }),
      described('When it happened, in ISO 8601 with milliseconds and `Z` or an offset.'),
    ),
    button_id: z.optional(
      z.string({ error: EVENT_ERROR.invalidButtonId }).check(
        z.refine((id) => id !== '' && id.length <= MAX_BUTTON_ID && isStorableText(id), {
          error: EVENT_ERROR.invalidButtonId,
        }),
        z.meta({
          minLength: 1,
          maxLength: MAX_BUTTON_ID,
          description: 'Link or button that was clicked. Placard extension.',
        }),
      ),
    ),
  },
  { error: EVENT_ERROR.notAnObject },
);

const tooMany = (max: number) => `'events' must hold no more than ${max} events`;

const createRequestSchema = <Event extends z.ZodMiniType>(event: Event) =>
  z
    .object(
      {
        ...envelope,
        events: z
          .array(event, { error: missingOrWrong('events', (value) => value != null) })
          .check(
            z.minLength(1, { error: ERROR_MESSAGES.noValidEvents }),
            z.maxLength(MAX_TRACK_EVENTS, { error: tooMany(MAX_TRACK_EVENTS) }),
            described('Events of the user.'),
          ),
      },
      { error: ERROR_MESSAGES.notAnObject },
    )
    // Only Placard's client sends visitors, and never more events per request.
    .check(
      z.refine(
        ({ external_user_id: user, events }) => events.length <= MAX_TRACK_BATCH || !isVisitorId(user),
        { error: tooMany(MAX_TRACK_BATCH) },
      ),
    );

/** Body of `POST /v1/device-messaging/banners/track`: the events of one user. */
export const bannersTrackRequest = createRequestSchema(wireEvent);
export type BannersTrackRequest = z.infer<typeof bannersTrackRequest>;

/** Body of `banners/track` for a server, which validates each event separately. */
export const bannersTrackBody = createRequestSchema(z.unknown());
export type BannersTrackBody = z.infer<typeof bannersTrackBody>;

/** Response 202, or 400 if no event is valid. `errors[].index` is the position in the request's `events`. */
export const bannersTrackResponse = z.object({
  events_processed: z.optional(z.number()).check(described('Events that were stored, or counted before.')),
  message: z.string().check(described('`success`, or what is wrong.')),
  errors: z
    .optional(z.array(z.unknown()))
    .check(described('Errors of rejected events, by index; absent if none.')),
});
