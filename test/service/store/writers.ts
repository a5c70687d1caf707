import { expect } from 'vitest';
import type { Profile } from '../../../src/service/profiles/profile.ts';
import { openStore } from '../../../src/service/store/index.ts';
import { SERVER_KEY } from '../../helpers/a-workspace.ts';
import { byExternalId, collect } from './examples.ts';

/** Requests sent, by outcome. */
export interface Sent {
  /** Got a 2xx response. */
  acknowledged: Set<string>;
  /** Got an error or no response. */
  inDoubt: Set<string>;
}

export const nothingSent = (): Sent => ({ acknowledged: new Set(), inDoubt: new Set() });

let serial = 0;

/**
 * Sends requests in sequence until `isOver`, each with a unique event and a counter increment for the writer's own user.
 * Stops at the first request without a response, unless told to continue.
 */
export const writeOn = async (options: {
  url: () => string;
  writer: number;
  sent: Sent;
  isOver: () => boolean;
  goesOn?: boolean;
}): Promise<void> => {
  const { url, writer, sent, isOver, goesOn = false } = options;
  const external_id = `writer-${writer}`;
  while (!isOver()) {
    serial += 1;
    const id = `${writer}.${serial}`;
    sent.inDoubt.add(id);
    try {
      const response = await fetch(`${url()}/users/track`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${SERVER_KEY}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          attributes: [{ external_id, requests: { inc: 1 }, last: id }],
          events: [{ external_id, name: 'written', time: '2026-02-01T00:00:00Z', properties: { id } }],
        }),
      });
      await response.arrayBuffer();
      if (response.status === 201) {
        sent.inDoubt.delete(id);
        sent.acknowledged.add(id);
      }
    } catch {
      // No response: the request stays in doubt.
      if (!goesOn) return;
    }
  }
};

/**
 * Compares the database with the requests sent: everything acknowledged is stored, everything stored was sent, each once,
 * and counters and statistics match.
 */
export const expectExactlyWhatWasSent = async (database: string, sent: Sent): Promise<number> => {
  const store = await openStore(database);
  try {
    const events = await collect(store.exportEvents('test'));
    const ids = events.map(({ properties }) => (properties as { id: string }).id);
    const stored = new Set(ids);
    expect(ids.length, 'events stored twice').toBe(stored.size);
    expect(
      [...sent.acknowledged].filter((id) => !stored.has(id)),
      'acknowledged and lost',
    ).toEqual([]);
    expect(
      ids.filter((id) => !sent.acknowledged.has(id) && !sent.inDoubt.has(id)),
      'stored and never sent',
    ).toEqual([]);
    const users = await collect(store.exportUsers('test'));
    for (const user of users) expectToAgree(user, ids);
    const read = await store.readUsers(
      'test',
      users.map(({ externalId }) => byExternalId(externalId!)),
    );
    expect(read).toHaveLength(users.length);
    for (const user of read) expectToAgree(user, ids);
    return stored.size;
  } finally {
    await store.close();
  }
};

const expectToAgree = ({ externalId, custom, events }: Profile, ids: string[]) => {
  const own = ids.filter((id) => `writer-${id.split('.')[0]}` === externalId);
  expect(custom['requests'], `counter of ${externalId}`).toBe(own.length);
  expect(events['written']?.count, `tally of ${externalId}`).toBe(own.length);
  expect(own).toContain(custom['last']);
};
