import type { InputArray } from '../protocol/index.ts';

type Read = (text: string) => unknown;

const WRONG = Symbol('wrong');

const number: Read = (text) => {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : WRONG;
};
const boolean: Read = (text) => ({ true: true, false: false })[text.trim().toLowerCase()] ?? WRONG;
const json: Read = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return WRONG;
  }
};
const TYPES: Readonly<Record<string, Read>> = { text: (text) => text, number, boolean, json };

/** Members that are numbers wherever they are. */
const NUMBERS = ['price', 'quantity'];
/** Members that have members: a column such as `properties.score` is one of theirs. */
const PARENTS: Readonly<Record<InputArray, readonly string[]>> = {
  attributes: ['user_alias'],
  events: ['user_alias', 'properties'],
  purchases: ['user_alias', 'properties'],
};

interface Column {
  /** As it is written in the header. */
  title: string;
  path: string[];
  type: string;
}

const columnOf = (title: string, position: number, array: InputArray): Column => {
  const [, name = '', type] = /^(.*?)(?::([^:]*))?$/s.exec(title.trim()) ?? [];
  if (name === '') throw new Error(`column ${position + 1} has no name`);
  const byDefault = array === 'purchases' && NUMBERS.includes(name) ? 'number' : 'text';
  if (type !== undefined && !Object.hasOwn(TYPES, type)) {
    throw new Error(
      `column "${title}" has the type "${type}"; write ${Object.keys(TYPES).join(', ')} after the colon`,
    );
  }
  const [parent = '', ...rest] = name.split('.');
  const path = rest.length > 0 && PARENTS[array].includes(parent) ? [parent, rest.join('.')] : [name];
  return { title, path, type: type ?? byDefault };
};

/**
 * Reads the header of a CSV and returns what makes an object of each row's cells, with the reason where the row cannot be
 * sent. An empty cell is left out. Throws where the header itself cannot be used.
 */
export const csvColumns = (header: readonly string[], array: InputArray) => {
  const columns = header.map((title, position) => columnOf(title, position, array));
  const paths = columns.map(({ path }) => path.join('.'));
  const twice = paths.find((path, position) => paths.indexOf(path) !== position);
  if (twice !== undefined) throw new Error(`the column "${twice}" is there twice`);

  return (cells: readonly string[]): { object: Record<string, unknown>; reason?: string } => {
    // Without a prototype: a column may have any name.
    const object: Record<string, unknown> = Object.create(null);
    let reason =
      cells.length === columns.length
        ? undefined
        : `expected ${columns.length} cells as in the header, got ${cells.length}`;
    for (const [position, { title, path, type }] of columns.entries()) {
      const text = cells[position] ?? '';
      if (text === '') continue;
      const read = TYPES[type]!(text);
      // A row that is refused keeps what was written, so that a person can correct it.
      const value = read === WRONG ? text : read;
      if (read === WRONG)
        reason ??= `the column "${title}" expects ${type === 'json' ? 'JSON' : `a ${type}`}`;
      const [parent, child] = path as [string, string?];
      if (child === undefined) object[parent] = value;
      else object[parent] = { ...(object[parent] as object | undefined), [child]: value };
    }
    return reason === undefined ? { object } : { object, reason };
  };
};
