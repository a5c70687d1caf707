import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

/** Inclusive range of numbers. */
export type Range = [first: number, last: number];

/**
 * Returns a function that checks whether a number is in one of the ranges. Call it with ascending numbers only, because it visits
 * each range once.
 */
export const createRanges = (ranges: Iterable<Range>): ((number: number) => boolean) => {
  const sorted = [...ranges].sort(([one], [other]) => one - other);
  let at = 0;
  return (number) => {
    while (at < sorted.length && sorted[at]![1] < number) at += 1;
    return at < sorted.length && sorted[at]![0] <= number;
  };
};

/** Number of bytes compared from the start of the input, because the input may grow during a run or between runs. */
const HEAD_BYTES = 64 * 1024;

/** Properties that must match for a run to be resumed. */
interface RunIdentity {
  /** Path of the input. */
  input: string;
  /** Endpoint or instance URL of the API. */
  api: string;
  format: string;
}

/**
 * File with the numbers, from 0, of the objects sent from an input. Each request is recorded before it is sent and after its
 * response. Writes are synchronous, so that records survive a crash of the process.
 */
export interface ResumeFile {
  /** Whether an earlier run has sent an object or listed a problem. */
  isResumed: boolean;
  /** Returns whether an earlier run received a response, rejected the object, or listed it. Call in ascending order. */
  isSettled(number: number): boolean;
  /** Returns whether an earlier run sent the object without receiving a response. Call in ascending order. */
  isInDoubt(number: number): boolean;
  begun(range: Range): void;
  settled(range: Range): void;
  notTaken(range: Range): void;
  close(): void;
}

const readHead = (input: string, bytes: number): { head: string; head_bytes: number } => {
  const buffer = Buffer.alloc(bytes);
  const file = openSync(input, 'r');
  const length = readSync(file, buffer, 0, bytes, 0);
  closeSync(file);
  return { head: createHash('sha256').update(buffer.subarray(0, length)).digest('hex'), head_bytes: length };
};

const NOTE = /^(begun|settled|unsent) (\d+) (\d+)$/;

/** Reads the records of earlier runs. A range without an end is open. */
const readNotes = (lines: readonly string[]) => {
  // The key contains both ends, because a single object of a request may be settled when it is listed.
  const open = new Map<string, Range>();
  const settled: Range[] = [];
  for (const line of lines) {
    const [, note, first, last] = NOTE.exec(line) ?? [];
    const range: Range = [Number(first), Number(last)];
    if (note === 'begun') open.set(`${first} ${last}`, range);
    else open.delete(`${first} ${last}`);
    if (note === 'settled') settled.push(range);
  }
  return { settled, open: [...open.values()] };
};

interface Header {
  api: string;
  format: string;
  head: string;
  head_bytes: number;
}

const parsed = (line: string): Partial<Header> => {
  try {
    return Object(JSON.parse(line));
  } catch {
    // The file is not a resume file and has none of the properties.
    return {};
  }
};

/** Throws if the file belongs to another run, because resuming would skip objects that were never sent. */
const checkHeader = (path: string, line: string, { input, api, format }: RunIdentity) => {
  const written = parsed(line);
  if (typeof written.head_bytes !== 'number') {
    throw new Error(`${path} is not a --resume file; name another file`);
  }
  if (written.api !== api)
    throw new Error(`${path} is of a run with ${written.api}, not ${api}; name another file`);
  if (written.format !== format || readHead(input, written.head_bytes).head !== written.head) {
    throw new Error(`${path} is of a run with another input than ${input}; name another file`);
  }
};

/** Opens or creates the file. Removes an incomplete last line. */
export const openResumeFile = (path: string, identity: RunIdentity): ResumeFile => {
  const file = openSync(path, 'a+');
  const write = (line: string) => writeSync(file, `${line}\n`);
  try {
    const text = readFileSync(file, 'utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const [header, ...notes] = whole.split('\n');
    if (whole === '' && text !== '') checkHeader(path, text, identity);
    if (header) checkHeader(path, header, identity);
    if (whole !== text) ftruncateSync(file, Buffer.byteLength(whole));
    if (!header) {
      const { api, format, input } = identity;
      write(JSON.stringify({ api, format, ...readHead(input, HEAD_BYTES) }));
    }
    const { settled, open } = readNotes(notes);
    return {
      isResumed: notes.some((note) => note !== ''),
      isSettled: createRanges(settled),
      isInDoubt: createRanges(open),
      begun: (range) => write(`begun ${range.join(' ')}`),
      settled: (range) => write(`settled ${range.join(' ')}`),
      notTaken: (range) => write(`unsent ${range.join(' ')}`),
      close: () => closeSync(file),
    };
  } catch (error) {
    closeSync(file);
    throw error;
  }
};
