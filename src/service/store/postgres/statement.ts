import type { ClientBase, Pool } from 'pg';

type Value = string | number | string[];

/** Runs a statement and resolves with its rows. With values it must be of a constant text: it is prepared under a name. */
export type Run = <Row extends object = Record<string, unknown>>(
  text: string,
  values?: readonly Value[],
) => Promise<Row[]>;

const names = new Map<string, string>();

/** What a connection has prepared under a name it need not read again. */
const nameOf = (text: string): string => {
  const known = names.get(text);
  if (known) return known;
  const name = `placard_${names.size}`;
  names.set(text, name);
  return name;
};

export const runOn =
  (connection: Pick<ClientBase | Pool, 'query'>): Run =>
  async <Row extends object>(text: string, values?: readonly Value[]) => {
    const statement = values ? { name: nameOf(text), text, values: [...values] } : { text };
    return (await connection.query<Row>(statement)).rows;
  };
