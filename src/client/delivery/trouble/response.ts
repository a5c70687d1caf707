import type { TrackSuccess } from '../../../protocol/index.ts';
import type { FailureKind } from '../../notices.ts';
import type { Answer } from '../../platform/http.ts';
import type { PauseCause } from '../../platform/waits.ts';
import type { Sent } from '../sender/sent.ts';
import type { Kit } from './kit.ts';
import { readRefused } from './refusal.ts';

/** An event that the server named in `errors`. */
export interface Skipped {
  /** Position in the batch as it was sent. */
  index: number;
  reason: string;
}

interface Failure {
  kind: FailureKind;
  message: string;
  cause?: unknown;
}

/** What an answer, or none, means for the events of one request. */
export type Outcome =
  /** Every event that `skipped` does not name was taken. `problems`: where the answer contradicts itself. */
  | { type: 'confirmed'; skipped: Skipped[]; problems: string[] }
  /** Never again unchanged: each event that `skipped` names, or the request as a whole where it names none. */
  | { type: 'refused'; skipped: Skipped[]; problems: string[]; isTooLarge: boolean; failure: Failure }
  /** Not taken, and not refused: once more, after a pause where there is one. */
  | { type: 'again'; pause?: PauseCause; failure?: Failure; isServerError?: boolean }
  /** The events may have been taken or not: no answer could be read, or it was none of the API. */
  | { type: 'in-doubt'; pause?: PauseCause; failure: Failure; isServerError?: boolean };

/** Whether one event may be why the server refused the whole request, or failed at it. Smaller requests find it. */
export const mayHavePoison = (outcome: Outcome): boolean =>
  outcome.type === 'refused'
    ? outcome.skipped.length === 0
    : outcome.type !== 'confirmed' && outcome.isServerError === true;

/** The server will not know us before its configuration changes: ask once an hour with the same key. */
const SAME_KEY_PROBE_MS = 60 * 60_000;
/** Banners are not set up: look again now and then. */
const NOT_FOUND_PROBE_MS = 15 * 60_000;

const isJson = ({ headers }: Answer): boolean =>
  /^application\/([\w.+-]+\+)?json\b/i.test(headers.get('content-type') ?? '');

/** A response that says nothing of the events: they may be sent again at once. */
const NOT_TAKEN: Outcome = { type: 'again' };

export const noAnswer = (cause: unknown, pause?: PauseCause): Outcome => ({
  type: 'in-doubt',
  ...(pause && { pause }),
  failure: { kind: 'deliver', message: `no answer could be read: ${Object(cause).message ?? cause}`, cause },
});

/**
 * Judges each entry of `errors` alone: a position of the batch counts once, everything else is a problem to report
 * and touches no event.
 */
export const judgeErrors = (
  errors: unknown[],
  length: number,
): { skipped: Skipped[]; problems: string[] } => {
  const skipped = new Map<unknown, Skipped>();
  const problems: string[] = [];
  for (const error of errors) {
    const { index, type } = Object(error);
    if (!Number.isInteger(index) || index < 0 || index >= length) {
      problems.push(`errors names index ${JSON.stringify(index)} of a batch of ${length}`);
    } else if (skipped.has(index)) problems.push(`errors names index ${index} twice`);
    else skipped.set(index, { index, reason: typeof type === 'string' ? type : 'no reason given' });
  }
  return { skipped: [...skipped.values()].sort((a, b) => a.index - b.index), problems };
};

/** The API answers 202, and counts what it took; a captive portal may answer 200 with any JSON. */
const isApis = (status: number, { events_processed, message }: TrackSuccess): boolean =>
  typeof events_processed === 'number' || (status === 202 && message !== undefined);

const confirmed = ({ errors, events_processed }: TrackSuccess, length: number): Outcome => {
  if (errors != null && !Array.isArray(errors)) {
    const problem = `errors is ${JSON.stringify(errors)}, no list`;
    // Whatever it means, an event may be named in it, unless the count says that all were taken.
    if (events_processed !== length) return noAnswer(new Error(problem), { reason: 'backoff' });
    return { type: 'confirmed', skipped: [], problems: [problem] };
  }
  const { skipped, problems } = judgeErrors(errors ?? [], length);
  const expected = length - skipped.length;
  if (typeof events_processed === 'number' && events_processed !== expected)
    problems.push(`errors leaves ${expected} of ${length}, but events_processed is ${events_processed}`);
  return { type: 'confirmed', skipped, problems };
};

/** Judges what became of a batch of `length` events. */
export const readResponse = (
  kit: Pick<Kit, 'parseJson' | 'readTrackSuccess' | 'USER_TOKEN_HEADER'>,
  answer: Answer,
  length: number,
  now: number,
): Outcome => {
  const { parseJson, readTrackSuccess, USER_TOKEN_HEADER } = kit;
  const { status, headers, text } = answer;
  const body = parseJson(text);
  const again = (message: string, pause: PauseCause, kind: FailureKind = 'deliver'): Outcome => ({
    type: 'again',
    pause,
    failure: { kind, message },
  });
  if (status >= 200 && status < 300) {
    const data = readTrackSuccess(body);
    if (data !== undefined && isApis(status, data)) return confirmed(data, length);
    // A captive portal answers 200 with a page or JSON of its own: our server saw nothing.
    if (!isJson(answer) || (body !== undefined && status !== 202))
      return again(`an answer that is not the API's (${status})`, { reason: 'backoff' });
    return noAnswer(new Error(`the answer (${status}) could not be read`), { reason: 'backoff' });
  }
  const { reason, requestedMs, errors, text: message = `HTTP ${status}` } = readRefused(kit, answer, now);
  if (status >= 500) {
    // The API's own 500 says that nothing was stored, and any 503 that nothing was begun. The rest is the word of a proxy, behind which the
    // events may have been taken, or of a service that has waited for its database in vain.
    const isNotTaken = status === 503 || (status === 500 && isJson(answer) && body !== undefined);
    return {
      type: isNotTaken ? 'again' : 'in-doubt',
      pause: { reason, requestedMs },
      failure: { kind: 'deliver', message },
      isServerError: status === 500 || status === 502,
    };
  }
  // About this user alone: the others' events go on.
  if (status === 401 && headers.has(USER_TOKEN_HEADER)) return NOT_TAKEN;
  if (reason === 'unauthorized') return again(message, { reason, requestedMs: SAME_KEY_PROBE_MS }, reason);
  if (reason === 'not-found') return again(message, { reason, requestedMs: NOT_FOUND_PROBE_MS }, reason);
  // The request is wrong, not the moment: an unchanged retry could only fail again. What is no JSON is the word of a proxy,
  // which knows of size alone.
  const isTooLarge = status === 413;
  const isVerdict = isTooLarge || (isJson(answer) && body !== undefined);
  if (status >= 400 && status < 500 && status !== 408 && reason !== 'rate-limit' && isVerdict) {
    const failure: Failure = { kind: 'deliver', message };
    return { type: 'refused', isTooLarge, failure, ...judgeErrors(errors, length) };
  }
  return again(message, { reason, requestedMs });
};

/** Returns what a request means for the events of its batch of `length`. */
export const toOutcome = (kit: Kit, sent: Sent, length: number, now: number): Outcome => {
  if (sent.type === 'response') return readResponse(kit, sent.response, length, now);
  const { cause, isFirst, wasOffline } = sent;
  const outcome = noAnswer(cause, { reason: 'backoff', isFirst });
  // Nothing leaves a browser that is offline.
  return wasOffline ? { ...outcome, type: 'again', pause: { reason: 'offline' } } : outcome;
};
