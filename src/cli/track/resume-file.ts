import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

/** Numbers from `first` to `last`, both included. */
export type Range = [first: number, last: number];

/** Whether a number is in one of the ranges. Asked in rising order alone: each range is looked at once. */
export const createRanges = (ranges: Iterable<Range>): ((number: number) => boolean) => {
  const sorted = [...ranges].sort(([one], [other]) => one - other);
  let at = 0;
  return (number) => {
    while (at < sorted.length && sorted[at]![1] < number) at += 1;
    return at < sorted.length && sorted[at]![0] <= number;
  };
};

/** How much of an input's beginning is compared. The input may grow while it is sent, or between two runs. */
const HEAD_BYTES = 64 * 1024;

/** What a run must have in common with the one it goes on with. */
interface RunIdentity {
  /** Path of the input. */
  input: string;
  /** Endpoint or instance. */
  api: string;
  /** How the input is read. */
  format: string;
}

/**
 * Which objects of an input were sent, by their number from 0 on, in a file that every request is noted in before it is
 * sent and after it is answered. Each note is written at once, so that it survives the process, whatever ends that.
 */
export interface ResumeFile {
  /** Whether an earlier run has begun to send, or has listed anything. */
  goesOn: boolean;
  /** Asked in rising order. Answered in an earlier run, refused there, or listed. */
  isSettled(number: number): boolean;
  /** Asked in rising order. Begun in an earlier run that did not see the answer. */
  isInDoubt(number: number): boolean;
  begun(range: Range): void;
  settled(range: Range): void;
  notTaken(range: Range): void;
  close(): void;
}

const headOf = (input: string, bytes: number): { head: string; head_bytes: number } => {
  const buffer = Buffer.alloc(bytes);
  const file = openSync(input, 'r');
  const length = readSync(file, buffer, 0, bytes, 0);
  closeSync(file);
  return { head: createHash('sha256').update(buffer.subarray(0, length)).digest('hex'), head_bytes: length };
};

const NOTE = /^(begun|settled|unsent) (\d+) (\d+)$/;

/** Reads the notes of earlier runs. A range that began and did not end is open. */
const readNotes = (lines: readonly string[]) => {
  // By both ends: one object of a request may be settled by itself, as it is listed.
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
    // Another file: none of the members is there.
    return {};
  }
};

/** Throws where the file is of another run: going on would leave out what was never sent. */
const checkHeader = (path: string, line: string, { input, api, format }: RunIdentity) => {
  const known = parsed(line);
  if (typeof known.head_bytes !== 'number') {
    throw new Error(`${path} is no file of --resume; name another file`);
  }
  if (known.api !== api)
    throw new Error(`${path} is of a run with ${known.api}, not ${api}; name another file`);
  if (known.format !== format || headOf(input, known.head_bytes).head !== known.head) {
    throw new Error(`${path} is of a run with another input than ${input}; name another file`);
  }
};

/** Opens the file, or makes it. A line that was cut off as it was written is dropped. */
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
      write(JSON.stringify({ api, format, ...headOf(input, HEAD_BYTES) }));
    }
    const { settled, open } = readNotes(notes);
    return {
      goesOn: notes.some((note) => note !== ''),
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
