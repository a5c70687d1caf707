import { expect, onTestFinished, test } from 'vitest';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import { openStore } from '../../../src/service/store/index.ts';
import { InDoubtError } from '../../../src/service/store/write-errors.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { runBeside } from '../../helpers/postgres.ts';
import { startPostgres } from '../../helpers/postgres-server.ts';
import { anEvent, byExternalId } from './examples.ts';

const NOW = Date.UTC(2026, 2, 1);

test('reports a commit as in doubt if the wait for the synchronous standby is canceled', async () => {
  const server = await startPostgres();
  onTestFinished(server.stop);
  const url = await server.createDatabase();
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const run = runBeside(url);
  const write = (user: string, create: boolean) =>
    store.write({
      workspaceId: 'demo',
      lookups: [byExternalId(user)],
      nowMs: NOW,
      apply(users: UserRepository) {
        if (create) users.create({ externalId: user }, NOW);
        for (const profile of users.find(byExternalId(user))) users.record(profile, anEvent(profile, 'e'));
      },
    });
  await write('kim', true);
  await recordBannerEvents(store, 'kim', [aBannerEvent()]);
  await run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await run('SELECT pg_reload_conf()');
  const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  /** Cancels the statements, as an operator would who sees them hang. */
  const cancel = () => run(`SELECT pg_cancel_backend(pid) ${waiting}`);
  /** Outcome of a write whose wait was cancelled. A write without a wait is stored. */
  const ending = async (write: () => Promise<unknown>) => {
    let outcome: unknown;
    void write().then(
      () => {
        outcome = 'stored';
      },
      (error: unknown) => {
        outcome = error;
      },
    );
    const settled = async () => {
      await cancel();
      return outcome;
    };
    await expect.poll(settled).toBeDefined();
    return outcome;
  };
  // The server applies the change a moment later.
  await expect.poll(() => ending(() => write('kim', false))).toBeInstanceOf(InDoubtError);
  expect(await ending(() => write('sam', true))).toBeInstanceOf(InDoubtError);
  const another = [aBannerEvent({ timeMs: NOW + 1 })];
  expect(await ending(() => recordBannerEvents(store, 'kim', another))).toBeInstanceOf(InDoubtError);
  await run('ALTER SYSTEM RESET synchronous_standby_names');
  await run('SELECT pg_reload_conf()');
  await expect.poll(() => write('kim', false).then(() => 'stored', String)).toBe('stored');
});
