import { decoded, INPUT_ARRAYS, isInputArray, isRecord, splitLines } from '../../protocol/index.ts';
import type { InputLine, LineObject } from './input-line.ts';

const SHAPE = 'a line must be {"attributes": …}, {"events": …} or {"purchases": …}';
const MAX_SHOWN = 3;

/** Formats unexpected property names. Omits values, because they are user data. */
const shownMembers = (names: string[]): string => {
  if (names.length === 0) return 'an empty object';
  const shown = names.slice(0, MAX_SHOWN).map((name) => JSON.stringify(name.slice(0, 40)));
  return `${names.length === 1 ? 'the member' : 'the members'} ${shown.join(', ')}${names.length > MAX_SHOWN ? ', …' : ''}`;
};

const parsed = (text: string): { value: unknown } | null => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
};

/** Parses a line: `{"events": {…}}` is one object, `{"events": [{…}, {…}]}` is several. */
const parseContent = (text: string): { objects: LineObject[] } | { reason: string } => {
  const body = parsed(text);
  if (!body) return { reason: 'a line must be JSON' };
  if (!isRecord(body.value))
    return { reason: `${SHAPE}, got ${Array.isArray(body.value) ? 'an array' : 'no object'}` };
  const members = body.value;
  const names = Object.keys(members);
  const unknown = names.filter((name) => !isInputArray(name));
  if (names.length === 0 || unknown.length > 0) return { reason: `${SHAPE}, got ${shownMembers(unknown)}` };
  return {
    objects: INPUT_ARRAYS.filter((array) => Object.hasOwn(members, array)).flatMap((array): LineObject[] => {
      const content = members[array];
      // The service validates the content of the objects.
      return Array.isArray(content)
        ? content.map((object, index) => ({ array, object, index }))
        : [{ array, object: content }];
    }),
  };
};

/** Yields lines of NDJSON. Throws if the first line shows that the input has another format. */
export async function* ndjsonLines(input: AsyncIterable<Buffer>): AsyncGenerator<InputLine, void> {
  let line = 0;
  let isFirst = true;
  for await (const bytes of splitLines(input)) {
    line += 1;
    const text = decoded(bytes)?.trim();
    if (text === '') continue;
    if (isFirst && text !== undefined && !text.startsWith('{')) {
      throw new Error(
        `line ${line} is not NDJSON: each line is an object such as {"events": {…}}; for CSV set the type of its rows with --as attributes, events or purchases`,
      );
    }
    isFirst = false;
    yield { line, ...(text === undefined ? { reason: 'a line must be UTF-8' } : parseContent(text)) };
  }
}
