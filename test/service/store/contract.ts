import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CustomEvent, StoredEvent } from '../../../src/service/profiles/events.ts';
import type { Lookup } from '../../../src/service/profiles/lookup.ts';
import type { Profile } from '../../../src/service/profiles/profile.ts';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import { type Commit, openStore, type Store } from '../../../src/service/store/index.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { bannerEventsContract } from './banner-contract.ts';
import { eventCountsContract } from './event-counts-contract.ts';
import { anEvent, aPurchase, byExternalId, collect, NOW } from './examples.ts';
import { feedContract } from './feed-contract.ts';
import { movingRowsContract } from './moving-rows-contract.ts';
import { resultsContract } from './results-contract.ts';

/** JSON with members in a stable order, because PostgreSQL reorders them. */
const inOrder = (value: unknown): string =>
  JSON.stringify(value, (_, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))
      : each,
  );

/** Contract of every store. `address` returns an empty database, the same one until the test ends. */
export const storeContract = (name: string, address: () => Promise<string>, options: { reopens: boolean }) =>
  describe(`the store on ${name}`, () => {
    let url: string;
    let store: Store;
    beforeEach(async () => {
      url = await address();
      store = await openStore(url);
    });
    afterEach(() => store.close());

    const write = <T>(lookups: Lookup[], apply: (users: UserRepository) => T, workspaceId = 'demo') =>
      store.write({ workspaceId, lookups, nowMs: NOW, apply });
    const create = (fields: Partial<Profile>, workspaceId = 'demo') =>
      write([], (users) => users.create(fields, NOW).userId, workspaceId);
    const find = (lookup: Lookup, workspaceId = 'demo') => store.readUsers(workspaceId, [lookup]);

    describe('users', () => {
      test('are found by each of their names, in their workspace only', async () => {
        const userId = await create({
          externalId: 'u-1',
          email: 'Kim@Example.org',
          phone: '+48 123 456 789',
          aliases: [{ alias_name: 'crm-1', alias_label: 'crm' }],
          pushTokens: [{ app_id: 'app', token: 'tok', device_id: 'device-1' }],
        });
        const lookups: Lookup[] = [
          byExternalId('u-1'),
          { by: 'email', value: 'kim@example.ORG' },
          { by: 'phone', value: '+48-123-456-789' },
          { by: 'user_alias', value: { alias_name: 'crm-1', alias_label: 'crm' } },
          { by: 'push_token', value: { app_id: 'app', token: 'tok' } },
          { by: 'device_id', value: 'device-1' },
          { by: 'braze_id', value: String(userId) },
        ];
        for (const lookup of lookups) {
          expect(await find(lookup), lookup.by).toMatchObject([{ userId, email: 'Kim@Example.org' }]);
          expect(await find(lookup, 'other'), lookup.by).toEqual([]);
          const inside = await write([lookup], (users) => users.find(lookup).map((found) => found.userId));
          expect(inside, lookup.by).toEqual([userId]);
        }
      });

      test('keep every member, byte for byte', async () => {
        const fields: Partial<Profile> = {
          externalId: 'żółw \u0001 🐢 "\\',
          standard: { first_name: "O'Brien\u2028" },
          custom: JSON.parse('{"__proto__":{"a":1},"constructor":"x","n":[1,{"deep":[true,2.5e-7]}],"":0}'),
          subscriptionGroups: { 'group-1': { state: 'subscribed', double_opt_in: true } },
          events: { quiz: { first: 1, last: 2, count: 3 } },
          purchases: { sku: { first: 1, last: 2, count: 3, revenue: 9.99 } },
        };
        await create(fields);
        const [found] = await find(byExternalId(fields.externalId!));
        expect(inOrder(found!.custom)).toBe(inOrder(fields.custom));
        expect(found).toMatchObject({
          externalId: fields.externalId,
          standard: fields.standard,
          subscriptionGroups: fields.subscriptionGroups,
          events: fields.events,
          purchases: fields.purchases,
          createdAtMs: NOW,
          updatedAtMs: NOW,
        });
      });

      test('are found by names above the maximum length of an index', async () => {
        const token = 't'.repeat(20_000);
        const userId = await create({ pushTokens: [{ app_id: 'app', token, device_id: 'device-1' }] });
        expect(await find({ by: 'push_token', value: { app_id: 'app', token } })).toMatchObject([{ userId }]);
        expect(await find({ by: 'push_token', value: { app_id: 'app', token: `${token}.` } })).toEqual([]);
      });

      test('are distinguished from the hash of a long name', async () => {
        const long = `a\u0001${'b'.repeat(900)}`;
        const hash = createHash('sha256').update(long).digest('hex');
        const ids = [long, `#${hash}`, hash];
        for (const id of ids) await create({ externalId: id });
        for (const id of ids) expect(await find(byExternalId(id))).toMatchObject([{ externalId: id }]);
      });

      test('may share an e-mail address', async () => {
        const ids = [
          await create({ externalId: 'a', email: 'kim@example.org' }),
          await create({ externalId: 'b', email: 'KIM@example.org' }),
        ];
        const lookup: Lookup = { by: 'email', value: 'kim@example.org' };
        const found = await write([lookup], (users) => users.find(lookup).map(({ userId }) => userId));
        expect(found.toSorted()).toEqual(ids.toSorted());
      });

      test('are visible to later writes, even within one transaction', async () => {
        const count = () =>
          write([byExternalId('u-1')], (users) => {
            const [known] = users.find(byExternalId('u-1'));
            const profile = known ?? users.create({ externalId: 'u-1' }, NOW);
            profile.custom['visits'] = Number(profile.custom['visits'] ?? 0) + 1;
            users.changed(profile, NOW);
            return profile.custom['visits'];
          });
        const counts = await Promise.all(Array.from({ length: 60 }, count));
        expect(counts.toSorted((a, b) => Number(a) - Number(b))).toEqual(
          Array.from({ length: 60 }, (_, i) => i + 1),
        );
        expect(await find(byExternalId('u-1'))).toMatchObject([{ custom: { visits: 60 } }]);
      });

      test('are found only by the new name after a change', async () => {
        await create({ externalId: 'u-1', email: 'old@example.org' });
        const before: Lookup = { by: 'email', value: 'old@example.org' };
        const after: Lookup = { by: 'email', value: 'new@example.org' };
        const seen = await write([before, after], (users) => {
          const [profile] = users.find(before);
          profile!.email = 'new@example.org';
          users.changed(profile!, NOW);
          return [users.find(before).length, users.find(after).length];
        });
        expect(seen).toEqual([0, 1]);
        expect(await find(before)).toEqual([]);
        expect(await find(after)).toHaveLength(1);
        // Renames back, in mutations that may share a transaction.
        const rename = (from: Lookup, to: string) =>
          write([from], (users) => {
            for (const profile of users.find(from)) {
              profile.email = to;
              users.changed(profile, NOW);
            }
          });
        await Promise.all([rename(after, 'old@example.org')]);
        await Promise.all([rename(before, 'new@example.org'), rename(after, 'old@example.org')]);
        const both = [...(await find(before)), ...(await find(after))];
        expect(both).toHaveLength(1);
      });

      test('are removed with all their names', async () => {
        await create({ externalId: 'u-1', email: 'kim@example.org' });
        const lookup: Lookup = { by: 'email', value: 'kim@example.org' };
        await write([lookup], (users) => {
          users.erase(users.find(lookup)[0]!);
          return users.find(byExternalId('u-1'));
        });
        expect(await find(lookup)).toEqual([]);
        expect(await collect(store.exportUsers('demo'))).toEqual([]);
        const again = await write([byExternalId('u-1')], (users) => {
          const found = users.find(byExternalId('u-1')).length;
          users.create({ externalId: 'u-1' }, NOW);
          return found;
        });
        expect(again).toBe(0);
      });

      test('are removed from the audit with the commit that removes them', async () => {
        const lookup: Lookup = { by: 'email', value: 'kim@example.org' };
        await create({ externalId: 'u-1', email: 'kim@example.org' });
        const look = { workspaceId: 'demo', atMs: NOW, operator: 'Mia', action: 'user.view', details: '' };
        for (const subject of ['u-1', 'u-2', 'u-3']) await store.studio.addAudit({ ...look, subject });
        await store.studio.addAudit({ ...look, workspaceId: 'other', subject: 'u-1' });
        await write([lookup, byExternalId('u-2')], (users) => {
          users.erase(users.find(lookup)[0]!);
          // An ID that no user has, or ever had.
          users.eraseByExternalId('u-2');
        });
        const subjects = async (workspaceId: string) =>
          (await store.studio.audit(workspaceId, { limit: 9 })).map(({ subject }) => subject).sort();
        expect(await subjects('demo')).toEqual(['', '', 'u-3']);
        expect(await subjects('other')).toEqual(['u-1']);
      });

      test('are not changed by a write that throws, while other writes of its transaction are stored', async () => {
        await create({ externalId: 'u-1', custom: { tier: 'gold' } });
        const lookup = byExternalId('u-1');
        const failing = write([lookup], (users) => {
          const [profile] = users.find(lookup);
          profile!.custom['tier'] = 'broken';
          profile!.externalId = 'u-2';
          users.changed(profile!, NOW);
          users.create({ externalId: 'u-3' }, NOW);
          users.record(profile!, anEvent(profile!, 'never'));
          users.addDataPoints(7, '2026-03-01');
          throw new Error('apply failed');
        });
        const [failed, other] = await Promise.allSettled([failing, create({ externalId: 'u-4' })]);
        expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'apply failed' } });
        expect(other.status).toBe('fulfilled');
        expect(await find(lookup)).toMatchObject([{ custom: { tier: 'gold' } }]);
        expect(await find(byExternalId('u-3'))).toEqual([]);
        const seen = await write([lookup, byExternalId('u-2')], (users) => [
          users.find(lookup)[0]?.custom['tier'],
          users.find(byExternalId('u-2')).length,
        ]);
        expect(seen).toEqual(['gold', 0]);
        expect(await collect(store.exportEvents('demo'))).toEqual([]);
        expect(await collect(store.dataPoints('demo'))).toEqual([]);
      });

      test('are created once if many requests need the same new one', async () => {
        const lookups: Lookup[] = [
          byExternalId('new'),
          { by: 'email', value: 'new@example.org' },
          { by: 'phone', value: '+48111222333' },
          { by: 'user_alias', value: { alias_name: 'n', alias_label: 'l' } },
        ];
        const fields: Partial<Profile>[] = [
          { externalId: 'new' },
          { email: 'new@example.org' },
          { phone: '+48111222333' },
          { aliases: [{ alias_name: 'n', alias_label: 'l' }] },
        ];
        await Promise.all(
          Array.from({ length: 80 }, (_, i) =>
            write([lookups[i % 4]!], (users) => {
              if (users.find(lookups[i % 4]!).length === 0) users.create(fields[i % 4]!, NOW);
            }),
          ),
        );
        for (const lookup of lookups) expect(await find(lookup), lookup.by).toHaveLength(1);
      });
    });

    describe('events and data points', () => {
      test('are exported once, as stored', async () => {
        const sent = await write([], (users) => {
          const profile = users.create({ externalId: 'u-1' }, NOW);
          const events: StoredEvent[] = [
            anEvent(profile, 'now'),
            anEvent(profile, 'long ago', Date.UTC(1999, 0, 1)),
            {
              ...anEvent(profile, 'with properties'),
              properties: { note: 'a\u001eb', deep: { list: [1, null] } },
            },
            aPurchase(profile),
          ];
          for (const event of events) users.record(profile, event);
          return events.map((event) => ({ ...event, workspaceId: 'demo' }));
        });
        const exported = (await collect(store.exportEvents('demo'))).map(({ eventId: _, ...event }) => event);
        const getName = (event: StoredEvent) => (event.kind === 'event' ? event.name : event.productId);
        const sorted = (events: StoredEvent[]) =>
          events.toSorted((a, b) => (getName(a) < getName(b) ? -1 : 1));
        expect(sorted(exported)).toEqual(sorted(sent));
        expect(await collect(store.exportEvents('other'))).toEqual([]);
      });

      test('are exported completely over several pages', async () => {
        for (let i = 0; i < 12; i += 1) {
          await Promise.all(
            Array.from({ length: 100 }, (_, j) =>
              write([], (users) => {
                const profile = users.create({ externalId: `u-${i}-${j}` }, NOW);
                users.record(profile, anEvent(profile, `e-${i}-${j}`));
              }),
            ),
          );
        }
        expect(
          new Set((await collect(store.exportEvents('demo'))).map((event) => (event as CustomEvent).name))
            .size,
        ).toBe(1200);
        const users = await collect(store.exportUsers('demo'));
        expect(new Set(users.map(({ externalId }) => externalId)).size).toBe(1200);
      });

      test('are counted by workspace and day', async () => {
        const add = (count: number, day: string, workspaceId: string) =>
          write([], (users) => users.addDataPoints(count, day), workspaceId);
        await Promise.all([
          add(3, '2026-03-01', 'demo'),
          add(4, '2026-03-01', 'demo'),
          add(5, '2026-03-02', 'demo'),
          add(9, '2026-03-01', 'other'),
        ]);
        expect(await collect(store.dataPoints('demo'))).toEqual([
          { day: '2026-03-01', points: 7 },
          { day: '2026-03-02', points: 5 },
        ]);
      });
    });

    bannerEventsContract(() => store);
    movingRowsContract(() => store);
    resultsContract(() => store);
    eventCountsContract(() => store);
    feedContract(() => store);

    describe('rate windows', () => {
      const window = (key: string, requests: number, windowSeconds = 60) => ({
        key,
        rule: { requests, windowSeconds },
      });

      test('accept exactly their limit, and then restart', async () => {
        const at = Math.floor(Date.now() / 60_000) * 60_000;
        const take = (ms: number) => store.consumeRateLimit([window('track', 5)], ms);
        const states = await Promise.all(Array.from({ length: 8 }, () => take(at)));
        expect(states.filter(({ allowed }) => allowed)).toHaveLength(5);
        expect(states.at(-1)).toEqual({ allowed: false, limit: 5, remaining: 0, resetAtMs: at + 60_000 });
        expect(await take(at + 60_000)).toEqual({
          allowed: true,
          limit: 5,
          remaining: 4,
          resetAtMs: at + 120_000,
        });
      });

      test('count a request in all windows or not at all', async () => {
        // In the next hour. Expired windows are deleted occasionally.
        const at = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
        const hourly = window('w hourly', 10, 3600);
        const burst = window('w burst', 2, 1);
        const both = () => store.consumeRateLimit([hourly, burst], at);
        // If all limits allow the request, the first one is reported.
        expect(await both()).toMatchObject({ allowed: true, limit: 10, remaining: 9 });
        expect(await both()).toMatchObject({ allowed: true, limit: 10, remaining: 8 });
        for (let i = 0; i < 20; i += 1) {
          expect(await both()).toMatchObject({ allowed: false, limit: 2, resetAtMs: at + 1000 });
        }
        // Eight of the hourly ten remain: requests that the burst limit rejected do not count.
        const later = await store.consumeRateLimit([hourly], at);
        expect(later).toMatchObject({ allowed: true, limit: 10, remaining: 7 });
      });
    });

    test('gives each workspace a stable secret', async () => {
      const secret = await store.ensureWorkspace('demo');
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      expect(await store.ensureWorkspace('demo')).toBe(secret);
      expect(await store.ensureWorkspace('other')).not.toBe(secret);
      expect(await store.workspaceIds()).toEqual(['demo', 'other']);
    });

    test('lists every workspace with data', async () => {
      await create({ externalId: 'u' }, 'b');
      await recordBannerEvents(store, 'u-1', [aBannerEvent()], 'a');
      expect(await store.workspaceIds()).toEqual(['a', 'b']);
    });

    test('reports each commit with its mutations, wait, and duration', async () => {
      await store.ensureWorkspace('demo');
      const commits: Commit[] = [];
      store.onCommit((commit) => commits.push(commit));
      await Promise.all(Array.from({ length: 20 }, (_, i) => create({ externalId: `u-${i}` })));
      await recordBannerEvents(store, 'u-1', [aBannerEvent()]);
      const mutations = () => commits.reduce((sum, commit) => sum + commit.mutations, 0);
      await expect.poll(mutations).toBe(21);
      expect(commits.length).toBeLessThan(21);
      for (const { waitedMs, writingMs } of commits) {
        expect(waitedMs).toBeGreaterThanOrEqual(0);
        expect(writingMs).toBeGreaterThan(0);
      }
    });

    test('responds to a ping', async () => {
      await expect(store.ping()).resolves.toBeUndefined();
    });

    test('finishes pending writes before it closes, and rejects later ones', async () => {
      const writing = Promise.all(Array.from({ length: 40 }, (_, i) => create({ externalId: `u-${i}` })));
      const closing = store.close();
      await expect(writing).resolves.toHaveLength(40);
      await closing;
      await expect(create({ externalId: 'late' })).rejects.toThrow('closed');
      await expect(store.loadTargetingData('demo', 'u-1')).rejects.toThrow();
    });

    if (options.reopens) {
      test('keeps its data after a restart', async () => {
        const userId = await create({ externalId: 'u-1', custom: { tier: 'gold' } });
        await recordBannerEvents(store, 'u-1', [aBannerEvent()]);
        const secret = await store.ensureWorkspace('demo');
        await store.close();
        store = await openStore(url);
        expect(await find(byExternalId('u-1'))).toMatchObject([{ userId, custom: { tier: 'gold' } }]);
        expect(await collect(store.exportBannerEvents('demo'))).toMatchObject([
          { externalId: 'u-1', bannerId: 'bnr_1' },
        ]);
        expect(await store.ensureWorkspace('demo')).toBe(secret);
        expect(await create({ externalId: 'u-2' })).not.toBe(userId);
        expect(await collect(store.exportUsers('demo'))).toHaveLength(2);
      });
    }
  });
