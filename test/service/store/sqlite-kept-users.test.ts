import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { byExternalId } from './contract.ts';
import { openKept } from './kept.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-kept-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('reads let go of what reads before them have brought into memory', async () => {
  const file = join(folder, 'reads.db');
  const names = ['a', 'b', 'c', 'd'];
  const { users: before } = openKept({ file });
  await before.write({
    workspaceId: 'w',
    lookups: [],
    nowMs: 1,
    apply: (set) => names.map((externalId) => set.create({ externalId }, 1)),
  });
  await before.close();

  const loaded: unknown[] = [];
  const { users } = openKept({
    file,
    wrapReader: (reader) => ({
      ...reader,
      load(workspaceId, lookup, weigh) {
        loaded.push(lookup.value);
        // Each as heavy as all that memory may keep.
        weigh?.(4_096 * 50_001);
        return reader.load(workspaceId, lookup, weigh);
      },
    }),
  });
  for (const name of [...names, 'a']) {
    expect(await users.read('w', [byExternalId(name)])).toMatchObject([{ externalId: name }]);
  }
  expect(loaded).toEqual([...names, 'a']);
  await users.close();
});
