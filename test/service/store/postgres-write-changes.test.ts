import { expect, test } from 'vitest';
import { noChanges, type UserRow } from '../../../src/service/profiles/changes.ts';
import { createUserIds } from '../../../src/service/profiles/user-id.ts';
import { ConflictError } from '../../../src/service/store/postgres/retry.ts';
import type { Run } from '../../../src/service/store/postgres/statement.ts';
import {
  COUNT_CAMPAIGNS,
  INSERT_BANNER_EVENTS,
  INSERT_USERS,
} from '../../../src/service/store/postgres/user-statements.ts';
import { writeChanges } from '../../../src/service/store/postgres/write-changes.ts';
import { aBannerEvent } from '../../helpers/banner-events.ts';

const user: UserRow = {
  userId: 1,
  workspaceId: 'demo',
  externalId: 'kim',
  profile: null,
  createdAtMs: 0,
  version: 0,
  characters: 0,
};

test('a group that another replica was faster than sends nothing once it has failed', async () => {
  const event = aBannerEvent();
  const sent: string[] = [];
  const stored = Promise.withResolvers<unknown[]>();
  // The other replica has made the user: no row comes back. The banner event is stored, and its answer comes later.
  const run = (async (statement: string) => {
    sent.push(statement);
    return statement === INSERT_BANNER_EVENTS ? stored.promise : [];
  }) as Run;
  const changes = {
    ...noChanges(),
    created: [user],
    bannerEvents: [{ workspaceId: 'demo', userId: 1, event }],
  };
  let hasFailed = false;
  const written = writeChanges(changes, { run, ids: createUserIds(), checked: [] }).catch((error) => {
    hasFailed = true;
    return error;
  });
  await new Promise(setImmediate);
  expect(hasFailed).toBe(false);

  stored.resolve([
    { user_id: '1', banner_id: event.bannerId, event_type: event.eventType, time: event.timeMs },
  ]);
  expect(await written).toBeInstanceOf(ConflictError);
  expect(sent).toEqual([INSERT_USERS, INSERT_BANNER_EVENTS, COUNT_CAMPAIGNS]);
});
