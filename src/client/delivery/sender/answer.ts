import { readTrackSuccess, type TrackSuccess, USER_TOKEN_HEADER } from '../../../protocol/index.ts';
import type { FailureKind, WaitReason } from '../../notices.ts';
import { type Answer, parseJson, readRefused } from '../../platform/http.ts';

/** An event that the server named in `errors`. */
export interface Skipped {
  /** Position in the batch as it was sent. */
  index: number;
  reason: string;
}

/** Why nothing may be sent now, and for how many milliseconds; without them as long as the backoff says. */
export interface Pause {
  reason: WaitReason;
  ms?: number | undefined;
}

/** What an answer, or none, means for a batch. */
export interface BatchOutcome {
  /**
   * `confirmed`: every event that `skipped` does not name was taken. `refused`: the request itself is wrong, never again
   * unchanged. `again`: not now. `in-doubt`: no answer could be read, so the events may have been taken or not.
   */
  type: 'confirmed' | 'refused' | 'again' | 'in-doubt';
  /** Of HTTP; 0 without an answer. */
  status: number;
  skipped: Skipped[];
  /** Where the answer contradicts itself. */
  problems: string[];
  wait?: Pause | undefined;
  /** For the host; nothing where all is well. */
  failure?: { kind: FailureKind; message: string; cause?: unknown };
}

/** The server will not know us before its configuration changes: ask once an hour with the same key. */
const SAME_KEY_PROBE_MS = 60 * 60_000;
/** Banners are not set up: look again now and then. */
const NOT_FOUND_PROBE_MS = 15 * 60_000;

const isJson = ({ headers }: Answer): boolean =>
  /^application\/([\w.+-]+\+)?json\b/i.test(headers.get('content-type') ?? '');

export const noAnswer = (cause: unknown, wait?: Pause): BatchOutcome => ({
  type: 'in-doubt',
  status: 0,
  skipped: [],
  problems: [],
  wait,
  failure: { kind: 'deliver', message: 'no answer could be read', cause },
});

/**
 * Judges each entry of `errors` alone: a position of the batch counts once, everything else is a problem to report
 * and touches no event.
 */
export const judgeErrors = (
  errors: unknown[],
  length: number,
): { skipped: Skipped[]; problems: string[] } => {
  const skipped = new Map<number, Skipped>();
  const problems: string[] = [];
  for (const error of errors) {
    const { index, type } = Object(error) as { index?: unknown; type?: unknown };
    const named = index as number;
    if (!Number.isInteger(index) || named < 0 || named >= length) {
      problems.push(`errors names index ${JSON.stringify(index)} of a batch of ${length}`);
    } else if (skipped.has(named)) problems.push(`errors names index ${index} twice`);
    else skipped.set(named, { index: named, reason: typeof type === 'string' ? type : 'no reason given' });
  }
  return { skipped: [...skipped.values()].sort((a, b) => a.index - b.index), problems };
};

/** The API answers 202, and counts what it took; a captive portal may answer 200 with any JSON. */
const isApis = (status: number, { events_processed, message }: TrackSuccess): boolean =>
  typeof events_processed === 'number' || (status === 202 && message !== undefined);

const confirmed = (
  status: number,
  { errors, events_processed }: TrackSuccess,
  length: number,
): BatchOutcome => {
  if (errors != null && !Array.isArray(errors)) {
    const problem = `errors is ${JSON.stringify(errors)}, no list`;
    // Whatever it means, an event may be named in it, unless the count says that all were taken.
    if (events_processed !== length) return noAnswer(new Error(problem), { reason: 'backoff' });
    return { type: 'confirmed', status, skipped: [], problems: [problem] };
  }
  const { skipped, problems } = judgeErrors(errors ?? [], length);
  const expected = length - skipped.length;
  if (typeof events_processed === 'number' && events_processed !== expected) {
    problems.push(
      `events_processed is ${events_processed}, but ${length} events less ${skipped.length} skipped are ${expected}`,
    );
  }
  return { type: 'confirmed', status, skipped, problems };
};

/** Judges what became of a batch of `length` events. */
export const readAnswer = (answer: Answer, length: number, now: number): BatchOutcome => {
  const { status, headers, text } = answer;
  const body = parseJson(text);
  const again = (message: string, wait: Pause, kind: FailureKind = 'deliver'): BatchOutcome => ({
    type: 'again',
    status,
    skipped: [],
    problems: [],
    wait,
    failure: { kind, message },
  });
  if (status >= 200 && status < 300) {
    const data = readTrackSuccess(body);
    if (data !== undefined && isApis(status, data)) return confirmed(status, data, length);
    // A captive portal answers 200 with a page or JSON of its own: our server saw nothing.
    if (!isJson(answer) || (body !== undefined && status !== 202))
      return again(`an answer that is not the API's (${status})`, { reason: 'backoff' });
    return noAnswer(new Error(`the answer (${status}) could not be read`), { reason: 'backoff' });
  }
  const { reason, requestedMs, errors, text: words = `HTTP ${status}` } = readRefused(answer, now);
  // Our service, or a proxy, has waited for its database in vain: it may have taken them.
  if (status === 504) return { ...again(words, { reason, ms: requestedMs || undefined }), type: 'in-doubt' };
  // About this user alone: the others' events go on.
  if (status === 401 && headers.has(USER_TOKEN_HEADER))
    return { type: 'again', status, skipped: [], problems: [] };
  if (reason === 'unauthorized') return again(words, { reason, ms: SAME_KEY_PROBE_MS }, reason);
  if (reason === 'not-found') return again(words, { reason, ms: NOT_FOUND_PROBE_MS }, reason);
  // The request is wrong, not the moment: an unchanged retry could only fail again. What is no JSON is the word of a proxy,
  // which knows of size alone.
  const isVerdict = status === 413 || (isJson(answer) && body !== undefined);
  if (status >= 400 && status < 500 && status !== 408 && reason !== 'rate-limit' && isVerdict) {
    const failure = { kind: 'deliver', message: words } as const;
    return { type: 'refused', status, failure, ...judgeErrors(errors, length) };
  }
  return again(words, { reason, ms: requestedMs || undefined });
};
