// Users of one group stay in memory for the next, up to a size. Rows changed directly in the file become visible only when
// the store reads a user from it.
import { expect, test } from 'vitest';
import { anSqliteQueue } from './an-sqlite-queue.ts';
import { NOW, type Step } from './steps.ts';

const attribute = (user: number, value: number): Step => ({ do: 'attribute', user, value });

const aQueue = (maxCharacters: number) => {
  const { database, disk, queue, write } = anSqliteQueue({ maxCharacters });
  return {
    disk,
    queue,
    write,
    nameInFile: (name: string) =>
      database.prepare("UPDATE users SET profile = json_set(profile, '$.first_name', ?)").run(name),
    names: () =>
      database
        .prepare("SELECT profile ->> 'first_name' AS name FROM users ORDER BY external_id")
        .all()
        .map(({ name }) => name),
  };
};

test('does not read a user again after a write', async () => {
  const { queue, write, nameInFile, names } = aQueue(1_000);
  await write(attribute(0, 1));
  nameInFile('Kim');
  await write(attribute(0, 2));
  expect(names()).toEqual([null]);
  await queue.close();
});

test('reads every user again after a failed commit', async () => {
  const { disk, queue, write, nameInFile, names } = aQueue(1_000);
  await write(attribute(0, 1));
  nameInFile('Kim');
  disk.problem = 'disk full';
  await expect(write(attribute(0, 2))).rejects.toThrow('disk full');
  disk.problem = null;
  await write(attribute(0, 3));
  expect(names()).toEqual(['Kim']);
  await queue.close();
});

test('keeps a user who is written often in memory if the cache evicts others', async () => {
  const { queue, write, nameInFile, names } = aQueue(2_000);
  await write(attribute(0, 0));
  await write(attribute(1, 1));
  nameInFile('Kim');
  for (let user = 2; user < 6; user += 1) {
    await write(attribute(user, user));
    await write(attribute(0, 0));
  }
  expect(names()[0], 'written often').toBe(null);
  await write(attribute(1, 1));
  expect(names()[1], 'written once').toBe('Kim');
  await queue.close();
});

test('clears the cache on an erasure, so that no data of the user stays in memory', async () => {
  const { queue, write, nameInFile, names } = aQueue(10_000);
  const lookup = { by: 'email', value: 'mia@example.org' } as const;
  await write(attribute(0, 1));
  for (const erase of [false, true]) {
    await queue.write({
      workspaceId: 'demo',
      lookups: [lookup],
      nowMs: NOW,
      apply(users) {
        if (erase) for (const profile of users.find(lookup)) users.erase(profile);
        else users.create({ email: lookup.value }, NOW);
      },
    });
  }
  nameInFile('Kim');
  await write(attribute(0, 2));
  expect(names()).toEqual(['Kim']);
  await queue.close();
});

test('reads users of a shared address once, and finds later ones as well', async () => {
  const { database, queue } = anSqliteQueue({ maxCharacters: 1e7 });
  const email = 'all@example.org';
  const find = (create: number) =>
    queue.write({
      workspaceId: 'demo',
      lookups: [{ by: 'email', value: email }],
      nowMs: NOW,
      apply(users) {
        for (let i = 0; i < create; i += 1) users.create({ email }, NOW);
        return users.find({ by: 'email', value: email }).length;
      },
    });
  expect(await find(2_000)).toBe(2_000);
  // Changed directly in the file: a store that reads the address again finds one user fewer.
  database.exec('DELETE FROM user_identifiers WHERE user_id = (SELECT max(user_id) FROM users)');
  expect(await find(0)).toBe(2_000);
  expect(await find(1)).toBe(2_001);
  expect(await find(0)).toBe(2_001);
  await queue.close();
});

test('does not keep previous names in memory, and keeps a user who is renamed repeatedly', async () => {
  const { queue, write, nameInFile, names } = aQueue(2_000);
  await write(attribute(0, 0));
  for (let value = 0; value < 20; value += 1) {
    nameInFile('Kim');
    await write({ do: 'rename', user: 0, value });
    expect(names()).toEqual([null]);
  }
  await queue.close();
});
