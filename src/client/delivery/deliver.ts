import { readRateLimit, readRefusal, readTrackSuccess, type TrackSuccess } from '../../protocol/index.ts';
import { judgeErrors, type Skipped } from './judge-errors.ts';
import type { PostTrack, TrackAnswer } from './post-track.ts';

/** Result of one batch. Expected results are values; nothing here is thrown. */
export type BatchDelivery =
  /** 2xx: every event that `skipped` does not name is confirmed. */
  | { type: 'accepted'; skipped: Skipped[]; problems: string[] }
  /** The request itself is wrong (400, 413, …): never again unchanged. `skipped` names events where the server did. */
  | { type: 'rejected'; status: number; reason: string; skipped: Skipped[]; problems: string[] }
  /** Not now; `afterMs` is the server's own wish. */
  | { type: 'retry'; status: number; afterMs?: number; reason: string }
  /**
   * No answer could be read: the server may have taken the events or not. `abandoned`: its tab is gone. `outdated`: the
   * network or the user came back meanwhile, so the failure says nothing of how things are now.
   */
  | { type: 'in-doubt'; cause: unknown; abandoned?: boolean; outdated?: boolean };

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

/** The API answers 202, and counts what it took; a captive portal may answer 200 with any JSON. */
const isApis = (status: number, { events_processed, message }: TrackSuccess): boolean =>
  typeof events_processed === 'number' || (status === 202 && message !== undefined);

const accepted = (answer: TrackSuccess, length: number): BatchDelivery => {
  const errors = answer.errors ?? [];
  if (!Array.isArray(errors)) {
    const problem = `errors is ${JSON.stringify(errors)}, no list`;
    // Whatever it means, an event may be named in it, unless the count says that all were taken.
    if (answer.events_processed !== length) return { type: 'in-doubt', cause: new Error(problem) };
    return { type: 'accepted', skipped: [], problems: [problem] };
  }
  const { skipped, problems } = judgeErrors(errors, length);
  const confirmed = length - skipped.length;
  if (typeof answer.events_processed === 'number' && answer.events_processed !== confirmed) {
    problems.push(
      `events_processed is ${answer.events_processed}, but ${length} events less ${skipped.length} skipped are ${confirmed}`,
    );
  }
  return { type: 'accepted', skipped, problems };
};

/** The request is wrong, not the moment: an unchanged retry could only fail again. */
const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

/** Sends one batch of `length` events and says what became of it. Knows no timers and no store. */
export const createDeliver =
  (post: PostTrack, now: () => number) =>
  async (request: Parameters<PostTrack>[0], length: number): Promise<BatchDelivery> => {
    let answer: TrackAnswer;
    try {
      answer = await post(request);
    } catch (cause) {
      return { type: 'in-doubt', cause };
    }
    const { status, headers, text } = answer;
    const body = parse(text);
    if (status >= 200 && status < 300) {
      const data = readTrackSuccess(body);
      if (data !== undefined && isApis(status, data)) return accepted(data, length);
      // A captive portal answers 200 with a page or JSON of its own: our server saw nothing.
      if (!isJson(answer) || (body !== undefined && status !== 202))
        return { type: 'retry', status, reason: `an answer that is not the API's (${status})` };
      return { type: 'in-doubt', cause: new Error(`the answer (${status}) could not be read`) };
    }
    const { text: told, errors } = readRefusal(body);
    const reason = told ?? `HTTP ${status}`;
    if (isRefusal(status)) {
      return { type: 'rejected', status, reason, ...judgeErrors(errors, length) };
    }
    const { retryAfterMs } = readRateLimit(headers, 'epoch', now());
    // Only a wish of the server counts here: a 5xx may carry the reset of a window that is not used up.
    const wish = status === 429 || headers.has('retry-after') ? retryAfterMs : undefined;
    // A time that has passed already (our clock and the server's differ) is no wish: it would make us hammer.
    return { type: 'retry', status, reason, ...(wish !== undefined && wish > 0 && { afterMs: wish }) };
  };
