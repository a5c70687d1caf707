import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { InDoubtError } from '../write-errors.ts';
import { isUsableAfter, takeConnection } from './take-connection.ts';
import { isUnreplicated } from './unreplicated.ts';

type Value = string | number | null | readonly string[] | readonly number[];

/** Runs a statement and resolves with its rows. With values it must be of a constant text: it is prepared under a name. */
export type Run = <Row extends object = Record<string, unknown>>(
  text: string,
  values?: readonly Value[],
) => Promise<Row[]>;

const names = new Map<string, string>();

/**
 * What a connection has prepared under a name it need not read again. The name says what the text is: behind a pooler
 * another replica may have prepared it.
 */
const nameOf = (text: string): string => {
  const known = names.get(text);
  if (known) return known;
  const name = `placard_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  names.set(text, name);
  return name;
};

/** Runs statements on one connection. */
export const runOn =
  (client: ClientBase): Run =>
  async (text, values) => {
    const statement = values ? { name: nameOf(text), text, values: [...values] } : { text };
    const { rows } = await client.query(statement);
    if (isUnreplicated(client)) throw new InDoubtError('A standby has not confirmed what was stored');
    return rows;
  };

/** Runs each statement on any connection that is free. */
export const runIn =
  (pool: Pool): Run =>
  async (text, values) => {
    const client = await takeConnection(pool);
    let isUsable = true;
    try {
      return await runOn(client)(text, values);
    } catch (error) {
      isUsable = isUsableAfter(error);
      throw error;
    } finally {
      client.release(!isUsable);
    }
  };
