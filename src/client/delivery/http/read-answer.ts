import {
  readRateLimit,
  readRefusal,
  readTrackSuccess,
  type TrackSuccess,
  USER_TOKEN_HEADER,
} from '../../../protocol/index.ts';
import type { FailureKind, WaitReason } from '../../notice.ts';
import type { TrackAnswer } from './post-track.ts';

/** An event that the server named in `errors`. */
export interface Skipped {
  /** Position in the batch as it was sent. */
  index: number;
  reason: string;
}

/** What an answer, or none, means for a batch. */
export interface Verdict {
  /**
   * `confirmed`: every event that `skipped` does not name was taken. `refused`: the request itself is wrong, never again
   * unchanged. `again`: not now. `in-doubt`: no answer could be read, so the events may have been taken or not.
   */
  fate: 'confirmed' | 'refused' | 'again' | 'in-doubt';
  /** Of HTTP; 0 without an answer. */
  status: number;
  skipped: Skipped[];
  /** Where the answer contradicts itself. */
  problems: string[];
  /** Why nothing may be sent now, and for how many milliseconds; without them as long as the backoff says. */
  wait?: { reason: WaitReason; ms?: number | undefined } | undefined;
  /** For the host; nothing where all is well. */
  failure?: { kind: FailureKind; message: string; cause?: unknown };
}

/** The server will not know us before its configuration changes: ask once an hour with the same key. */
const SAME_KEY_PROBE_MS = 60 * 60_000;
/** Banners are not set up: look again now and then. */
const NOT_FOUND_PROBE_MS = 15 * 60_000;

/** Why a refusal by its status makes the sender wait, though the request is not wrong in itself. */
const WAITS: Record<number, { reason: WaitReason & FailureKind; ms: number }> = {
  401: { reason: 'unauthorized', ms: SAME_KEY_PROBE_MS },
  403: { reason: 'unauthorized', ms: SAME_KEY_PROBE_MS },
  404: { reason: 'not-found', ms: NOT_FOUND_PROBE_MS },
};

const isJson = ({ headers }: TrackAnswer): boolean =>
  /^application\/([\w.+-]+\+)?json\b/i.test(headers.get('content-type') ?? '');

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // A refusal may come from a proxy in any form, and a cut-off answer is in doubt: both are decided by the caller.
    return undefined;
  }
};

export const inDoubt = (cause: unknown, wait?: Verdict['wait']): Verdict => ({
  fate: 'in-doubt',
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

const confirmed = (status: number, { errors, events_processed }: TrackSuccess, length: number): Verdict => {
  if (errors != null && !Array.isArray(errors)) {
    const problem = `errors is ${JSON.stringify(errors)}, no list`;
    // Whatever it means, an event may be named in it, unless the count says that all were taken.
    if (events_processed !== length) return inDoubt(new Error(problem), { reason: 'backoff' });
    return { fate: 'confirmed', status, skipped: [], problems: [problem] };
  }
  const { skipped, problems } = judgeErrors(errors ?? [], length);
  const expected = length - skipped.length;
  if (typeof events_processed === 'number' && events_processed !== expected) {
    problems.push(
      `events_processed is ${events_processed}, but ${length} events less ${skipped.length} skipped are ${expected}`,
    );
  }
  return { fate: 'confirmed', status, skipped, problems };
};

/** Says what became of a batch of `length` events. */
export const readAnswer = (answer: TrackAnswer, length: number, now: number): Verdict => {
  const { status, headers, text } = answer;
  const body = parse(text);
  const again = (message: string, wait: Verdict['wait'], kind: FailureKind = 'deliver'): Verdict => ({
    fate: 'again',
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
    return inDoubt(new Error(`the answer (${status}) could not be read`), { reason: 'backoff' });
  }
  const { text: reason, errors } = readRefusal(body);
  const message = reason ?? `HTTP ${status}`;
  // About this user alone: the others' events go on.
  if (status === 401 && headers.has(USER_TOKEN_HEADER))
    return { fate: 'again', status, skipped: [], problems: [] };
  const wait = WAITS[status];
  if (wait) return again(message, wait, wait.reason);
  // The request is wrong, not the moment: an unchanged retry could only fail again.
  // What is not JSON is a proxy's word, which knows of size alone.
  const isVerdict = status === 413 || (isJson(answer) && body !== undefined);
  if (status >= 400 && status < 500 && status !== 408 && status !== 429 && isVerdict) {
    const failure = { kind: 'deliver', message } as const;
    return { fate: 'refused', status, failure, ...judgeErrors(errors, length) };
  }
  const { retryAfterMs } = readRateLimit(headers, 'epoch', now);
  // Only a wish of the server counts here: a 5xx may carry the reset of a window that is not used up. And a time that has
  // passed already (our clock and the server's differ) is no wish: it would make us hammer.
  const isLimit = status === 429;
  const ms = isLimit || headers.has('retry-after') ? retryAfterMs || undefined : undefined;
  return again(message, { reason: isLimit ? 'rate-limit' : 'backoff', ms });
};
