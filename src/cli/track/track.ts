import { defineCommand } from 'citty';
import { INPUT_ARRAYS } from '../../protocol/index.ts';
import {
  createRestClient,
  type RestClient,
  type TrackReport,
  TrackStoppedError,
} from '../../server/index.ts';
import { apiOptions, createClient, getAddress } from '../api-options.ts';
import { createInterruption, ExitError, InterruptedError } from '../exit.ts';
import { count, formatError } from '../sentence.ts';
import { fileListing, type Listed, type Listing, streamListing, written } from './listing.ts';
import { createProgress, durationText } from './progress.ts';
import { openResumeFile } from './resume-file.ts';
import { openTrackInput } from './track-input.ts';
import { createTrackObjects, type TrackObjects } from './track-objects.ts';

const options = {
  file: { type: 'positional', description: 'NDJSON or CSV file; - or nothing for stdin', required: false },
  ...apiOptions,
  as: {
    type: 'string',
    description: 'The file is a CSV with a header, and its rows are these',
    valueHint: INPUT_ARRAYS.join('|'),
  },
  delimiter: { type: 'string', description: 'Delimiter of the columns of a CSV', valueHint: ',' },
  'dry-run': { type: 'boolean', description: 'Validate without sending' },
  resume: {
    type: 'string',
    description: 'Progress file; a second run with it continues from there',
    valueHint: 'FILE',
  },
  rejects: {
    type: 'string',
    description: 'File for rejected objects, with reasons, instead of stdout',
    valueHint: 'FILE',
  },
  concurrency: { type: 'string', description: 'Concurrent requests', valueHint: '4' },
} as const;

/** Minimum time between equal messages, because four concurrent requests repeat them with each retry. */
const REPEAT_MS = 5_000;

const formatSummary = ({ processed, requests }: TrackReport, isDryRun: boolean): string => {
  const taken = INPUT_ARRAYS.map((array) => count(processed[array], array.slice(0, -1))).join(', ');
  return `${taken} ${isDryRun ? 'would be accepted' : 'accepted'} in ${count(requests, 'request')}`;
};

/** Creates a client that validates by the service's rules in this process. It sends nothing and needs no key. */
const dryRunClient = async (): Promise<RestClient> => {
  const { validateTrack } = await import('./validate-track.ts');
  return createRestClient({ endpoint: 'http://dry-run', apiKey: 'none', fetch: validateTrack });
};

/** Creates a function that reports the reason of a retry, the same message at most every `REPEAT_MS`. */
const createRetryReporter = (say: (sentence: string) => void) => {
  let last = '';
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return (error: Error, waitMs: number) => {
    const sentence = formatError(error);
    const now = performance.now();
    if (sentence === last && now - saidAtMs < REPEAT_MS) return;
    last = sentence;
    saidAtMs = now;
    say(`placard: ${sentence}; retrying in ${durationText(Math.max(waitMs, 1_000))}`);
  };
};

/** Returns the error of a finished run that listed problems; `undefined` if none. */
const toListingError = (listing: Listing, { lines, lost, error }: Listed): Error | undefined => {
  if (lines === 0) return undefined;
  const problems = count(lines, 'problem');
  return lost > 0
    ? new Error(`${problems}, of which ${lost} could not be listed ${listing.name}: ${error?.message}`)
    : new ExitError(2, `${problems}, listed ${listing.name}`);
};

/** Returns the error of a stopped run with the cause, the accepted objects, and the position to resume from. */
const toStopError = async (
  { cause, report, unsent }: TrackStoppedError,
  { objects, listing, isResumable }: { objects: TrackObjects; listing: Listing; isResumable: boolean },
): Promise<unknown> => {
  const nothingTaken = report.requests === 0;
  // Without read or sent objects, the cause is enough.
  if (nothingTaken && unsent.length === 0) return cause;
  if (!nothingTaken) objects.unsent(unsent);
  const { lost, error } = await listing.end();
  const message = [
    formatError(cause),
    ...(nothingTaken
      ? ['nothing was accepted']
      : [
          formatSummary(report, false),
          isResumable
            ? 'the same command continues from there'
            : `nothing after ${objects.lastName()} was sent`,
        ]),
    ...(lost > 0 ? [`${count(lost, 'line')} could not be listed ${listing.name}: ${error?.message}`] : []),
  ].join('; ');
  return cause instanceof InterruptedError ? new InterruptedError(cause.signal, message) : new Error(message);
};

/** `placard track`: sends any number of attributes, events and purchases, and lists each problem by line. */
export const track = defineCommand({
  meta: { name: 'track', description: 'Send attributes, events and purchases from NDJSON or CSV.' },
  args: options,
  run: async ({ args }) => {
    const { file = '-', as, delimiter } = args;
    const isDryRun = args['dry-run'] === true;
    if (args.resume !== undefined && isDryRun) throw new Error('--dry-run sends nothing: leave --resume out');
    if (args.resume !== undefined && file === '-') throw new Error('--resume needs a file, not stdin');

    /** Time and position when sending started. Earlier objects do not count, because skipping is much faster than sending. */
    let start: { atMs: number; bytes: number } | undefined;
    const progress = createProgress(process.stderr, () => ({
      processed: objects.processed(),
      elapsedMs: start ? performance.now() - start.atMs : 0,
      readBytes: start ? readBytes() - start.bytes : 0,
      leftBytes: totalBytes === null ? null : totalBytes - readBytes(),
    }));
    const { stopSignal, abortSignal, release } = createInterruption(() =>
      progress.say('placard: finishing in-flight requests; a second signal aborts them'),
    );
    /** Aborted at the end, so that an idle input does not keep the process alive. */
    const completion = new AbortController();
    const client = isDryRun
      ? await dryRunClient()
      : createClient(args, { onRetry: createRetryReporter(progress.say) });
    const input = openTrackInput({
      file,
      as,
      delimiter,
      stop: AbortSignal.any([stopSignal, completion.signal]),
    });
    const { format, readBytes, totalBytes } = input;
    const resume =
      args.resume === undefined
        ? undefined
        : openResumeFile(args.resume, { input: file, api: Object.values(getAddress(args)).join(), format });
    const listing =
      args.rejects === undefined
        ? streamListing(process.stdout, 'on stdout')
        : fileListing(args.rejects, resume?.isResumed ?? false);
    const objects = createTrackObjects(listing, resume);
    try {
      const report = await client.track(objects.toSend(input.lines()), {
        ...(args.concurrency !== undefined && { concurrency: Number(args.concurrency) }),
        onProblem: objects.problem,
        onRequest: (state, positions) => {
          start ??= { atMs: performance.now(), bytes: readBytes() };
          objects.request(state, positions);
        },
        signal: abortSignal,
      });
      if (input.isCut()) throw new TrackStoppedError(stopSignal.reason, report, []);
      progress.end();
      const before = objects.sentBefore();
      const more = before > 0 ? `; ${count(before, 'object')} sent by an earlier run` : '';
      const failure = await written(process.stderr, `${formatSummary(report, isDryRun)}${more}\n`);
      if (failure) throw failure;
    } catch (error) {
      if (!(error instanceof TrackStoppedError)) throw error;
      throw await toStopError(error, { objects, listing, isResumable: resume !== undefined });
    } finally {
      progress.end();
      completion.abort();
      release();
      resume?.close();
    }
    const failure = toListingError(listing, await listing.end());
    if (failure) throw failure;
  },
});
