import { defineCommand } from 'citty';
import {
  convertColumn,
  decoded,
  INPUT_ARRAYS,
  type InputArray,
  isInputArray,
  isRecord,
  parseJson,
  parseMapping,
  setMember,
  splitLines,
} from '../protocol/index.ts';
import type { RestClient } from '../server/index.ts';
import { apiOptions, createClient } from './api-options.ts';
import { ExitError } from './exit.ts';
import { count } from './sentence.ts';
import { writeLine } from './stdout.ts';

const options = {
  input: {
    type: 'positional',
    description: '-, the messages of a Singer tap on standard input',
    required: true,
  },
  as: {
    type: 'string',
    description: 'Type of records: attributes, events or purchases',
    valueHint: 'KIND',
  },
  columns: {
    type: 'string',
    description: 'Member by property, perhaps with a type; default: the members of a record as they are',
    valueHint: 'PROPERTY=MEMBER[:TYPE],…',
  },
  stream: { type: 'string', description: 'The one stream to take; default all', valueHint: 'NAME' },
  ...apiOptions,
} as const;

/** Maximum records sent at once without a `STATE` in between. */
const MAX_RECORDS = 1_500;

type Properties = Record<string, unknown>;

/** Creates a function that converts a record to an object or returns the reason that the record is invalid. */
const createMapping = (array: InputArray, columns: string | undefined) => {
  const pairs = (columns ?? '').split(',').flatMap((pair) => {
    if (pair.trim() === '') return [];
    const [property = '', written = ''] = pair.split('=').map((part) => part.trim());
    if (property === '' || written === '') throw new Error(`--columns has "${pair}"; write property=member`);
    return [{ property, ...parseMapping(array, property, written) }];
  });
  return (record: Properties): { object: Properties } | { reason: string } => {
    if (pairs.length === 0) return { object: record };
    const object: Properties = {};
    for (const { property, path, type } of pairs) {
      const value = record[property];
      if (value === undefined) continue;
      const converted = value === null ? { value } : convertColumn(value, type);
      if ('expected' in converted) return { reason: `${property} is not ${converted.expected}` };
      setMember(object, path, converted.value);
    }
    return { object };
  };
};

/** Singer message types without rows. */
const WITHOUT_ROWS = ['SCHEMA', 'ACTIVATE_VERSION'];

const parseMessage = (text: string, line: number): Properties & { type: string } => {
  let message: unknown;
  try {
    message = parseJson(text);
  } catch (error) {
    if (error instanceof RangeError) throw new Error(`line ${line}: ${error.message}`);
    // The platform's message quotes the line, which is user data.
  }
  if (isRecord(message) && typeof message['type'] === 'string') return { ...message, type: message['type'] };
  throw new Error(`line ${line} is not a Singer message: expected an object with a "type"`);
};

interface TapOptions {
  client: Pick<RestClient, 'track'>;
  /** Singer messages, one per line. */
  input: AsyncIterable<Uint8Array>;
  array: InputArray;
  /** Value of `--columns`. */
  columns: string | undefined;
  /** Stream to ingest; `undefined` for all streams. */
  stream: string | undefined;
}

/**
 * Reads the messages of a tap, and writes a `STATE` to stdout once every record before it is stored. Returns the number of stored
 * and rejected records. If records are in doubt, throws before writing a `STATE`, because the tap would continue after it.
 */
export const ingestTap = async (options: TapOptions): Promise<{ stored: number; rejected: number }> => {
  const { client, input, array, columns, stream } = options;
  const map = createMapping(array, columns);
  let held: { object: Properties; line: number }[] = [];
  let stored = 0;
  let rejected = 0;
  const streams = new Set<string>();
  const reject = (where: string, reason: string) => process.stderr.write(`${where}: ${reason}\n`);
  const send = async () => {
    const sent = held;
    held = [];
    if (sent.length === 0) return;
    const wrong = new Set<number>();
    // A request without a response may be repeated, because a tap also resends all records after its last state.
    const { inDoubt } = await client.track(
      { [array]: sent.map(({ object }) => object) },
      {
        onUnknownOutcome: 'retry',
        onProblem: ({ position, reason }) => {
          if (position !== null) wrong.add(position.index);
          reject(position === null ? 'a record' : `line ${sent[position.index]!.line}`, reason);
        },
      },
    );
    // Stops, because after a state the tap would never resend the records in doubt.
    if (inDoubt.length > 0) {
      const { line } = sent[inDoubt[0]!.index]!;
      throw new Error(
        `no response to ${count(inDoubt.length, 'record')} from line ${line} on: they may or may not be stored`,
      );
    }
    stored += sent.length - wrong.size;
    rejected += wrong.size;
  };
  const takeRecord = async (record: unknown, line: number) => {
    if (!isRecord(record)) throw new Error(`line ${line} has no "record"`);
    const mapped = map(record);
    if ('object' in mapped) held.push({ object: mapped.object, line });
    else {
      rejected += 1;
      reject(`line ${line}`, mapped.reason);
    }
    if (held.length >= MAX_RECORDS) await send();
  };
  const isSeen = () => stream === undefined || streams.has(stream);
  /** Last state, withheld until a message of the stream arrives, because the name of `--stream` may be misspelled. */
  let withheld: string | null = null;
  let line = 0;
  for await (const bytes of splitLines(input)) {
    line += 1;
    const text = decoded(bytes);
    if (text === null) throw new Error(`line ${line} is not UTF-8`);
    if (text.trim() === '') continue;
    const message = parseMessage(text, line);
    const { type } = message;
    if (type === 'STATE') {
      await send();
      const state = JSON.stringify(message['value']);
      if (isSeen()) await writeLine(state);
      withheld = isSeen() ? null : state;
      continue;
    }
    if (typeof message['stream'] === 'string') streams.add(message['stream']);
    if (WITHOUT_ROWS.includes(type) || (stream !== undefined && message['stream'] !== stream)) continue;
    if (type !== 'RECORD') {
      throw new Error(
        `line ${line} is a ${type} message, which ingest does not read: let the tap send RECORD`,
      );
    }
    await takeRecord(message['record'], line);
  }
  await send();
  if (!isSeen()) {
    const sent = streams.size === 0 ? 'none' : [...streams].join(', ');
    throw new Error(`no message is of the stream "${stream}"; the tap sent ${sent}`);
  }
  if (withheld !== null) await writeLine(withheld);
  return { stored, rejected };
};

/** `placard ingest -`: ingests rows from stdin in the Singer format. */
export const ingest = defineCommand({
  meta: { name: 'ingest', description: 'Store the records of a Singer tap.' },
  args: options,
  run: async ({ args }) => {
    if (args.input !== '-')
      throw new Error(`ingest reads standard input: placard ingest -, got "${args.input}"`);
    if (!isInputArray(args.as))
      throw new Error(
        `--as must be ${INPUT_ARRAYS.join(', ')}, got ${args.as === undefined ? 'none' : `"${args.as}"`}`,
      );
    const { stored, rejected } = await ingestTap({
      client: createClient(args),
      input: process.stdin,
      array: args.as,
      columns: args.columns,
      stream: args.stream,
    });
    process.stderr.write(`${count(stored, 'record')} stored, ${rejected.toLocaleString('en-US')} rejected\n`);
    if (rejected > 0) throw new ExitError(2, `${count(rejected, 'record')} rejected`);
  },
});
