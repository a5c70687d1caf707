import { defineCommand } from 'citty';
import {
  decoded,
  INPUT_ARRAYS,
  type InputArray,
  isInputArray,
  isRecord,
  linesOf,
  memberPath,
  setMember,
} from '../protocol/index.ts';
import type { RestClient } from '../server/index.ts';
import { apiOptions, restClientOf } from './api-options.ts';
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
    description: 'What records become: attributes, events or purchases',
    valueHint: 'KIND',
  },
  columns: {
    type: 'string',
    description: 'Member by property; default: the members of a record as they are',
    valueHint: 'PROPERTY=MEMBER,…',
  },
  stream: { type: 'string', description: 'The one stream to take; default all', valueHint: 'NAME' },
  ...apiOptions,
} as const;

/** Records that are sent at once where no `STATE` comes before. */
const MAX_RECORDS = 1_500;

/** Makes the object of a record. */
const mapping = (array: InputArray, columns: string | undefined) => {
  const pairs = (columns ?? '').split(',').flatMap((pair) => {
    if (pair.trim() === '') return [];
    const [from = '', to = ''] = pair.split('=').map((part) => part.trim());
    if (from === '' || to === '') throw new Error(`--columns has "${pair}"; write property=member`);
    return [{ from, path: memberPath(array, to) }];
  });
  return (record: Record<string, unknown>): Record<string, unknown> => {
    if (pairs.length === 0) return record;
    const object: Record<string, unknown> = {};
    for (const { from, path } of pairs) {
      const value = record[from];
      if (value !== undefined) setMember(object, path, value);
    }
    return object;
  };
};

const messageIn = (text: string, line: number): Record<string, unknown> => {
  try {
    const message: unknown = JSON.parse(text);
    if (isRecord(message) && typeof message['type'] === 'string') return message;
  } catch {
    // The platform's message quotes the line: the user's own data.
  }
  throw new Error(`line ${line} is no message of a tap: each is an object with a "type"`);
};

interface TapOptions {
  client: Pick<RestClient, 'track'>;
  /** The messages, one a line. */
  input: AsyncIterable<Uint8Array>;
  array: InputArray;
  /** As `--columns` writes it. */
  columns: string | undefined;
  /** The one stream to take; `undefined` for all. */
  stream: string | undefined;
}

/**
 * Reads the messages of a tap; a `STATE` goes to stdout once every record before it is stored. Returns what was rejected.
 * Throws where it cannot be known that all others are stored.
 */
export const ingestTap = async (options: TapOptions): Promise<{ stored: number; rejected: number }> => {
  const { client, input, array, columns, stream } = options;
  const objectOf = mapping(array, columns);
  let held: { object: Record<string, unknown>; line: number }[] = [];
  let stored = 0;
  let rejected = 0;
  const send = async () => {
    const sent = held;
    held = [];
    if (sent.length === 0) return;
    const wrong = new Set<number>();
    // A tap repeats what comes after its last state: an answer that was lost may be repeated as well.
    const { inDoubt } = await client.track(
      { [array]: sent.map(({ object }) => object) },
      {
        lostAnswers: 'repeat',
        onProblem: ({ position, reason }) => {
          if (position !== null) wrong.add(position.index);
          const where = position === null ? 'a record' : `line ${sent[position.index]!.line}`;
          process.stderr.write(`${where}: ${reason}\n`);
        },
      },
    );
    // The tap would go on after a state, and never send these again.
    if (inDoubt.length > 0) {
      const { line } = sent[inDoubt[0]!.index]!;
      throw new Error(
        `the answer to ${count(inDoubt.length, 'record')} from line ${line} on was lost: they may be stored or not`,
      );
    }
    stored += sent.length - wrong.size;
    rejected += wrong.size;
  };
  let line = 0;
  for await (const bytes of linesOf(input)) {
    line += 1;
    const text = decoded(bytes);
    if (text === null) throw new Error(`line ${line} is not UTF-8`);
    if (text.trim() === '') continue;
    const message = messageIn(text, line);
    if (message['type'] === 'RECORD' && (stream === undefined || message['stream'] === stream)) {
      if (!isRecord(message['record'])) throw new Error(`line ${line} has no "record"`);
      held.push({ object: objectOf(message['record']), line });
      if (held.length >= MAX_RECORDS) await send();
    } else if (message['type'] === 'STATE') {
      await send();
      await writeLine(JSON.stringify(message['value']));
    }
  }
  await send();
  return { stored, rejected };
};

/** `placard ingest -`: rows from anywhere, through a Singer tap. */
export const ingest = defineCommand({
  meta: { name: 'ingest', description: 'Store the records of a Singer tap.' },
  args: options,
  run: async ({ args }) => {
    if (args.input !== '-')
      throw new Error(`ingest reads standard input: placard ingest -, got "${args.input}"`);
    if (!isInputArray(args.as)) throw new Error(`say what the records are: --as ${INPUT_ARRAYS.join(', ')}`);
    const { stored, rejected } = await ingestTap({
      client: restClientOf(args),
      input: process.stdin,
      array: args.as,
      columns: args.columns,
      stream: args.stream,
    });
    process.stderr.write(`${count(stored, 'record')} stored, ${rejected.toLocaleString('en-US')} rejected\n`);
    if (rejected > 0) throw new ExitError(2, `${count(rejected, 'record')} rejected`);
  },
});
