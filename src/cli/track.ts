import { createReadStream } from 'node:fs';
import { defineCommand } from 'citty';
import { INPUT_ARRAYS, isRecord } from '../protocol/index.ts';
import { type TrackObject, type TrackPlace, type TrackReport, TrackStoppedError } from '../server/index.ts';
import { apiOptions, restClientOf } from './api-options.ts';
import { createInterruption, InterruptedError } from './interruption.ts';
import { linesOf } from './lines-of.ts';
import { createListing, written } from './listing.ts';
import { lineOf, objectIndex, placeName } from './object-index.ts';
import { refuseUnknown } from './options.ts';
import { sentenceOf } from './sentence.ts';

const options = {
  file: { type: 'positional', description: 'NDJSON file; - or nothing for stdin', required: false },
  ...apiOptions,
  concurrency: { type: 'string', description: 'Requests under way at once', valueHint: '4' },
} as const;

const SHAPE = 'a line must be an object with attributes, events or purchases';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a line. Names of users in another encoding must not become others: `J\xf6rg` and `J\xe4rg` are not one. */
const decoded = (line: Buffer): string => {
  try {
    // A byte order mark in front, which some editors put there, is left out.
    return utf8.decode(line).trim();
  } catch {
    throw new Error('a line must be UTF-8');
  }
};

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    // The platform's message quotes the line: the user's own data.
    throw new Error('a line must be JSON');
  }
};

/** The objects of a line: `{"events": {…}}`, or a whole body with arrays. */
const objectsOf = (line: string): Omit<TrackObject, 'index'>[] => {
  const body = parsed(line);
  if (!isRecord(body)) throw new Error(SHAPE);
  const names = Object.keys(body);
  const arrays = INPUT_ARRAYS.filter((array) => names.includes(array));
  if (arrays.length === 0 || arrays.length < names.length) throw new Error(SHAPE);
  return arrays.flatMap((array) =>
    [body[array]].flat().map((object) => ({ array, object }) as Omit<TrackObject, 'index'>),
  );
};

interface Reading {
  file: string;
  /** Reading ends with the line that it is at. */
  stop: AbortSignal;
  /** Hears of what is no track object. */
  refuse: (line: number, reason: string) => void;
  /** Hears that `stop` ended it. */
  onCut: () => void;
}

/** Reads as fast as requests are answered. */
async function* readObjects({ file, stop, refuse, onCut }: Reading): AsyncGenerator<TrackObject, void> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  // Nobody may be writing, as at a terminal: reading must end then too.
  stop.addEventListener('abort', () => input.destroy());
  let line = 0;
  try {
    for await (const bytes of linesOf(input)) {
      if (stop.aborted) return onCut();
      line += 1;
      let objects: Omit<TrackObject, 'index'>[] = [];
      try {
        const text = decoded(bytes);
        if (text !== '') objects = objectsOf(text);
      } catch (error) {
        refuse(line, (error as Error).message);
      }
      for (const [place, object] of objects.entries()) {
        yield { ...object, index: objectIndex(line, place, place === objects.length - 1) };
      }
    }
  } catch (error) {
    // A stream that is destroyed before its end says so.
    if (!stop.aborted) throw error;
    onCut();
  }
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** `placard track`: sends attributes, events and purchases of any number; each problem is a line of NDJSON on stdout. */
export const track = defineCommand({
  meta: { name: 'track', description: 'Send attributes, events and purchases from NDJSON.' },
  args: options,
  run: async ({ args }) => {
    refuseUnknown(args, options);
    const listing = createListing(process.stdout);
    const tell = listing.add;
    const tellInDoubt = (places: TrackPlace[]) => {
      for (const { array, index } of places) {
        tell({ line: lineOf(index), array, reason: 'in doubt: the answer was never read' });
      }
    };
    const summary = ({ processed, requests }: TrackReport) =>
      `${INPUT_ARRAYS.map((array) => `${processed[array]} ${array}`).join(', ')} taken in ${count(requests, 'request')}`;
    const { asked, insisted, release } = createInterruption(() => {
      process.stderr.write('placard: waiting for the answers under way; a second signal ends it at once\n');
    });
    /** Aborted when there is no more to do: nobody waits any more for an input that is silent, nor should the process. */
    const over = new AbortController();
    let isCut = false;
    try {
      const report = await restClientOf(args).track(
        readObjects({
          file: args.file ?? '-',
          stop: AbortSignal.any([asked, over.signal]),
          refuse: (line, reason) => tell({ line, reason }),
          onCut: () => {
            isCut = true;
          },
        }),
        {
          ...(args.concurrency !== undefined && { concurrency: Number(args.concurrency) }),
          onProblem: ({ place, reason }) =>
            tell({ line: place && lineOf(place.index), array: place?.array, reason }),
          signal: insisted,
        },
      );
      if (isCut) throw new TrackStoppedError(asked.reason, report, []);
      tellInDoubt(report.inDoubt);
      const failure = await written(process.stderr, `${summary(report)}\n`);
      if (failure) throw failure;
    } catch (error) {
      if (!(error instanceof TrackStoppedError)) throw error;
      tellInDoubt(error.report.inDoubt);
      for (const { array, index } of error.unsent) tell({ line: lineOf(index), array, reason: 'not sent' });
      const last = Math.max(...Object.values(error.report.consumed)) - 1;
      const { cause } = error;
      // Where not one line was read there is no more to tell than why.
      if (last < 0) throw cause;
      const { lost, error: why } = await listing.end();
      const untold =
        lost > 0 ? `; ${count(lost, 'line')} could not be listed on stdout: ${why?.message}` : '';
      const message = `${sentenceOf(error)}; ${summary(error.report)}; nothing after ${placeName(last)} was sent${untold}`;
      throw cause instanceof InterruptedError
        ? new InterruptedError(cause.signal, message)
        : new Error(message);
    } finally {
      over.abort();
      release();
    }
    const { lines, lost, error } = await listing.end();
    if (lost > 0) {
      throw new Error(
        `${count(lines, 'problem')}, of which ${lost} could not be listed on stdout: ${error?.message}`,
      );
    }
    if (lines > 0) throw new Error(`${count(lines, 'problem')}, listed on stdout by line`);
  },
});
