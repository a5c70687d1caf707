import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inPath, needs } from '../../helpers/machine.ts';
import { times } from '../../helpers/property.ts';
import { startServiceProcess } from '../../helpers/service-process.ts';
import { expectExactlyWhatWasSent, nothingSent, writeOn } from './writers.ts';

const ROUNDS = times(2);
const WRITERS = 8;
const LONGEST_ROUND_MS = 400;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'placard-crash-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test(
  `stores every acknowledged write once after ${ROUNDS} kills (kill -9) with ${WRITERS} writers`,
  async () => {
    const database = join(folder, 'crash.db');
    const sent = nothingSent();
    let stored = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const service = await startServiceProcess(database);
      const before = sent.acknowledged.size;
      let isOver = false;
      const writers = Array.from({ length: WRITERS }, (_, writer) =>
        writeOn({ url: () => `http://127.0.0.1:${service.port}`, writer, sent, isOver: () => isOver }),
      );
      // At a random moment, once the round has started to write.
      while (sent.acknowledged.size === before) await later(1);
      await later(Math.random() * LONGEST_ROUND_MS);
      await service.kill();
      isOver = true;
      await Promise.all(writers);
      stored = await expectExactlyWhatWasSent(database, sent);
    }
    expect(stored).toBeGreaterThan(ROUNDS);
    console.log(
      `${ROUNDS} kills: ${sent.acknowledged.size} acknowledged, ${stored} stored, 0 lost, 0 doubled`,
    );
  },
  60_000 + ROUNDS * 15_000,
);

/** Ways to make writes fail below SQLite, if available on this machine. */
const FAULTS = [
  {
    name: 'every fifth sync of the log fails',
    command: ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'inject=fdatasync,fsync:error=EIO:when=9+5'],
  },
  {
    name: 'every 60th write fails',
    command: ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'inject=pwrite64:error=EIO:when=90+60'],
  },
  {
    name: 'the disk is full',
    // `XFSZ` is ignored, so that the write fails instead.
    command: ['bash', '-c', 'trap "" XFSZ; ulimit -f 400; exec "$0" "$@"'],
  },
];

describe.each(FAULTS)('while $name', ({ name, command }) => {
  const where = needs(`apt-get install ${command[0]}`, inPath(command[0]!) !== undefined);
  test('acknowledges only stored writes', where, async () => {
    const database = join(folder, `${name.replaceAll(' ', '-')}.db`);
    const sent = nothingSent();
    // Creates the file first, so that the fault hits writes in progress.
    await (await startServiceProcess(database)).stop();
    const service = await startServiceProcess(database, { command });
    // Some hundred requests meet the fault within seconds; strace on a slow machine needs longer.
    const until = Date.now() + 40_000;
    await Promise.all(
      Array.from({ length: WRITERS }, (_, writer) =>
        writeOn({
          url: () => `http://127.0.0.1:${service.port}`,
          writer,
          sent,
          isOver: () => sent.inDoubt.size > 100 || Date.now() > until,
          goesOn: true,
        }),
      ),
    );
    await service.kill();
    expect(sent.acknowledged.size).toBeGreaterThan(0);
    expect(sent.inDoubt.size, 'requests that met the fault').toBeGreaterThan(0);
    const stored = await expectExactlyWhatWasSent(database, sent);
    console.log(
      `${name}: ${sent.acknowledged.size} acknowledged, ${sent.inDoubt.size} refused, ${stored} stored, 0 lost`,
    );
  });
});
