import { USERS_TRACK_PATH } from '../protocol/index.ts';
import { ApiError, InDoubtError } from './api-error.ts';
import type { Call } from './call.ts';
import { batchObjects, type TrackBatch } from './track-batches.ts';
import { type AnyIterable, readTrackInput, type TrackInput, type TrackObject } from './track-input.ts';
import type { TrackPosition, TrackProblem } from './track-problem.ts';
import {
  emptyReport,
  listPositions,
  readTrackResponse,
  rejectBatch,
  type TrackReport,
  TrackStoppedError,
} from './track-report.ts';

/** Options of `track`. */
export interface TrackOptions {
  /** Maximum number of concurrent requests. Two requests that may concern the same user are never concurrent. Default 4. */
  concurrency?: number | undefined;
  /**
   * Handling of non-idempotent objects if no response arrives: `'report'` (default) lists them in `inDoubt`; `'retry'` resends them,
   * which may create duplicates.
   */
  onUnknownOutcome?: 'report' | 'retry' | undefined;
  /** Called for each error as it arrives. An exception stops sending. */
  onProblem?: ((problem: TrackProblem) => void) | undefined;
  /**
   * Called with the positions of a request before each attempt and once its outcome is known. After a crash, treat a request that
   * started but did not complete as in doubt. An exception stops sending.
   */
  onRequest?: ((state: RequestState, positions: TrackPosition[]) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * `completed`: a response arrived. `in_doubt`: no response arrived, and no retry follows. `not_sent`: nothing was stored, and a
 * retry may follow.
 */
export type RequestState = 'started' | 'completed' | 'in_doubt' | 'not_sent';

/** Consecutive requests without a response after which sending stops. */
const MAX_IN_DOUBT_RUN = 3;

/**
 * Sends all objects in batches. A request waits for earlier requests that may concern one of its users, to keep the order of
 * objects.
 */
export const trackAll = async (
  call: Call,
  input: TrackInput | AnyIterable<TrackObject>,
  options: TrackOptions = {},
): Promise<TrackReport> => {
  const { concurrency = 4, onUnknownOutcome = 'report', signal } = options;
  const { onProblem = () => undefined, onRequest = () => undefined } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new TypeError(`concurrency: expected a whole number from 1, got ${concurrency}`);
  }
  const report = emptyReport();
  const unsent: TrackPosition[] = [];
  /** Aborts reading, because an input may be silent for hours. */
  const ending = new AbortController();
  const { items, read } = readTrackInput(
    input,
    signal ? AbortSignal.any([signal, ending.signal]) : ending.signal,
  );
  const inFlight = new Map<Promise<void>, TrackBatch>();
  let stopped: { cause: unknown } | undefined;
  let inDoubtRun = 0;

  const stop = (cause: unknown) => {
    stopped ??= { cause };
    ending.abort(cause);
  };
  const callBack = (call: () => void) => {
    try {
      call();
    } catch (error) {
      stop(error);
    }
  };
  const addProblems = (problems: TrackProblem[]) => {
    report.problems.push(...problems);
    for (const problem of problems) callBack(() => onProblem(problem));
  };
  /**
   * Adds a problem. Throws if sending has stopped, because an input with only rejected objects never sends a request that would
   * detect the stop.
   */
  const reject = (problem: TrackProblem) => {
    addProblems([problem]);
    if (stopped) throw stopped.cause;
  };

  const failed = (error: unknown, batch: TrackBatch, wasInDoubt: boolean): RequestState => {
    if (error instanceof ApiError && [400, 413].includes(error.status)) {
      // Also applies after an unknown outcome, because the same body was rejected then, too.
      report.requests += 1;
      addProblems(rejectBatch(error.errors, error.serverMessage ?? error.message, batch));
      return 'completed';
    }
    const isInDoubt = error instanceof InDoubtError;
    if (isInDoubt) inDoubtRun += 1;
    if (!isInDoubt || inDoubtRun >= MAX_IN_DOUBT_RUN) stop(error);
    if (!isInDoubt && !wasInDoubt) {
      unsent.push(...listPositions(batch));
      return 'not_sent';
    }
    report.requests += 1;
    report.inDoubt.push(...listPositions(batch));
    return 'in_doubt';
  };

  const send = async (batch: TrackBatch): Promise<void> => {
    const positions = listPositions(batch);
    let wasInDoubt = false;
    let state: RequestState = 'completed';
    try {
      const response = await call({
        method: 'POST',
        path: USERS_TRACK_PATH,
        body: batch.body,
        resetKind: 'delta-seconds',
        idempotent: batch.idempotent || onUnknownOutcome === 'retry',
        onInDoubt: () => {
          wasInDoubt = true;
        },
        onAttempt: () => onRequest('started', positions),
        onNotSent: () => {
          if (!wasInDoubt) onRequest('not_sent', positions);
        },
        signal,
      });
      inDoubtRun = 0;
      report.requests += 1;
      addProblems(readTrackResponse(response.body, batch, report));
    } catch (error) {
      state = failed(error, batch, wasInDoubt);
    }
    callBack(() => onRequest(state, positions));
  };

  const sharesUser = (batch: TrackBatch, other: TrackBatch): boolean =>
    [...batch.users].some((user) => other.users.has(user));

  try {
    for await (const batch of batchObjects(items, reject)) {
      // Counted here and not on reading, because an unfinished batch is dropped if sending stops.
      for (const { array, index } of listPositions(batch)) report.consumed[array] = index + 1;
      for (;;) {
        const conflicting = [...inFlight]
          .filter(([, other]) => sharesUser(batch, other))
          .map(([sending]) => sending);
        if (conflicting.length > 0) await Promise.all(conflicting);
        else if (inFlight.size >= concurrency) await Promise.race(inFlight.keys());
        else break;
      }
      if (stopped || signal?.aborted) {
        unsent.push(...listPositions(batch));
        stop(signal?.reason);
        break;
      }
      const sending: Promise<void> = send(batch).finally(() => inFlight.delete(sending));
      inFlight.set(sending, batch);
    }
    if (!stopped) report.consumed = read;
  } catch (error) {
    // The input failed. Objects read before the failure still count.
    stop(error);
  }
  await Promise.all(inFlight.keys());
  if (stopped) throw new TrackStoppedError(stopped.cause, report, unsent);
  return report;
};
