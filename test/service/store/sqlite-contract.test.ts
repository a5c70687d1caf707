import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { storeContract } from './contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-store-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
storeContract(
  'a SQLite file',
  async () => {
    files += 1;
    return join(folder, `${files}.db`);
  },
  { reopens: true },
);
storeContract('SQLite in memory', async () => ':memory:', { reopens: false });
