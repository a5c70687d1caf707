import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../src/service/store/index.ts';
import { studioContract } from './contract.ts';

studioContract('SQLite in memory', async () => openStore(':memory:'));

studioContract('a SQLite file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-studio-'));
  const store = await openStore(join(folder, 'placard.db'));
  return {
    studio: store.studio,
    close: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});
