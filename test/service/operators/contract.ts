import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NewRelease, StudioStore } from '../../../src/service/index.ts';
import type { Store } from '../../../src/service/store/index.ts';

const W = 'shop';

const aRelease = (more: Partial<NewRelease> = {}): NewRelease => ({
  kind: 'campaign',
  workspaceId: W,
  subjectId: 'spring',
  content: { campaign_id: 'spring', b: 1, a: 2 },
  basedOn: 0,
  author: 'Mia',
  note: '',
  createdAtMs: 1_000,
  liveAtMs: 1_000,
  ...more,
});

const aDraft = (revision: string, editor = 'Mia') => ({
  workspaceId: W,
  campaignId: 'spring',
  campaign: { campaign_id: 'spring', name: "Rock 'n' roll — 春 \u{1F338}" },
  revision,
  basedOn: 0,
  editor,
  updatedAtMs: 5,
});

const anEntry = (action: string) => ({
  workspaceId: W,
  atMs: 5,
  operator: 'Mia',
  action,
  subject: 'spring',
  details: '',
});

/** Contract of the Studio's tables for every store. */
export const studioContract = (
  name: string,
  open: () => Promise<Pick<Store, 'studio' | 'image' | 'close'>>,
) =>
  describe(`the Studio's tables on ${name}`, () => {
    let store: Pick<Store, 'studio' | 'image' | 'close'>;
    let studio: StudioStore;
    beforeEach(async () => {
      store = await open();
      ({ studio } = store);
    });
    afterEach(() => store.close());

    test('number the releases of a workspace over all its campaigns', async () => {
      expect(await studio.releases(W, { limit: 9 })).toHaveLength(0);
      expect(await studio.addRelease(aRelease())).toBe(1);
      expect(await studio.addRelease(aRelease({ subjectId: 'autumn' }))).toBe(2);
      expect(await studio.addRelease(aRelease({ workspaceId: 'other' }))).toBe(1);
      expect(await studio.releases(W, { limit: 9 })).toHaveLength(2);
    });

    test('store a campaign as written, including the order of its members', async () => {
      await studio.addRelease(aRelease());
      expect(JSON.stringify((await studio.release(W, 1))?.content)).toBe(
        '{"campaign_id":"spring","b":1,"a":2}',
      );
      expect(await studio.release(W, 2)).toBeNull();
    });

    test('reject a release that is not based on the latest of its campaign', async () => {
      await studio.addRelease(aRelease());
      expect(await studio.addRelease(aRelease())).toBeNull();
      expect(await studio.addRelease(aRelease({ basedOn: 1 }))).toBe(2);
      expect(await studio.addRelease(aRelease({ basedOn: 1 }))).toBeNull();
    });

    test('accept one of many concurrent releases of a campaign, and all those of other campaigns', async () => {
      const same = await Promise.all(
        Array.from({ length: 8 }, (_, i) => studio.addRelease(aRelease({ author: `one ${i}` }))),
      );
      expect(same.filter((release) => release !== null)).toHaveLength(1);
      const others = await Promise.all(
        Array.from({ length: 8 }, (_, i) => studio.addRelease(aRelease({ subjectId: `c${i}` }))),
      );
      expect([...others].sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    });

    test('return the latest release of each live campaign, in creation order', async () => {
      await studio.addRelease(aRelease({ subjectId: 'b', liveAtMs: 10 }));
      await studio.addRelease(aRelease({ subjectId: 'a', liveAtMs: 10 }));
      await studio.addRelease(aRelease({ subjectId: 'b', basedOn: 1, liveAtMs: 50, content: null }));
      const live = async (at: number) =>
        (await studio.liveReleases(W, at)).map(({ subjectId, release }) => [subjectId, release]);
      expect(await live(9)).toEqual([]);
      expect(await live(10)).toEqual([
        ['b', 1],
        ['a', 2],
      ]);
      expect(await live(50)).toEqual([
        ['b', 3],
        ['a', 2],
      ]);
      expect((await studio.scheduledReleases(W, 10)).map(({ release }) => release)).toEqual([3]);
      expect((await studio.release(W, 3))?.content).toBeNull();
    });

    test('keep a scheduled release if a fix is published before it, unless it is canceled', async () => {
      await studio.addRelease(aRelease());
      await studio.addRelease(aRelease({ basedOn: 1, liveAtMs: 90_000 }));
      await studio.addRelease(aRelease({ basedOn: 2, createdAtMs: 2_000, liveAtMs: 2_000 }));
      const live = async (at: number) => (await studio.liveReleases(W, at)).map(({ release }) => release);
      expect([await live(2_000), await live(90_000)]).toEqual([[3], [2]]);
      const audit = anEntry('release.cancel');
      const cancel = (nowMs: number) =>
        studio.cancelRelease({ workspaceId: W, release: 2 }, { nowMs, draft: aDraft('r1'), audit });
      // The release may already be live on a replica whose clock is ahead.
      expect(await cancel(86_000)).toBe(false);
      expect([await studio.audit(W, { limit: 9 }), await studio.drafts(W)]).toEqual([[], []]);
      expect([await cancel(3_000), await cancel(3_001)]).toEqual([true, false]);
      expect([await live(90_000), await studio.scheduledReleases(W, 3_000)]).toEqual([[3], []]);
      expect(await studio.audit(W, { limit: 9 })).toMatchObject([audit]);
      expect((await studio.draft(W, 'spring'))?.revision).toBe('r1');
      expect(await studio.newestReleases(W, 'campaign')).toEqual(new Map([['spring', 3]]));
    });

    test('reschedule a release unless it is live or due within seconds', async () => {
      await studio.addRelease(aRelease());
      expect(await studio.releaseState(W, 1_000)).toEqual({ newest: 1, dueAtMs: Infinity });
      await studio.addRelease(aRelease({ basedOn: 1, liveAtMs: 90_000 }));
      const move = (release: number, liveAtMs: number, nowMs: number) =>
        studio.moveRelease({ workspaceId: W, release, liveAtMs }, { nowMs, audit: anEntry('release.move') });
      expect(await move(2, 60_000, 1_000)).toBe(true);
      expect(await studio.releaseState(W, 1_000)).toEqual({ newest: 2, dueAtMs: 60_000 });
      expect(await move(2, 95_000, 56_000)).toBe(false);
      expect(await move(1, 95_000, 1_000)).toBe(false);
      expect((await studio.scheduledReleases(W, 1_000)).map(({ liveAtMs }) => liveAtMs)).toEqual([60_000]);
      expect(await studio.audit(W, { limit: 9 })).toHaveLength(1);
    });

    test('cancel scheduled releases together with the release that replaces them', async () => {
      await studio.addRelease(aRelease());
      await studio.addRelease(aRelease({ basedOn: 1, liveAtMs: 90_000 }));
      await studio.addRelease(aRelease({ basedOn: 2, liveAtMs: 80_000 }), { cancelsScheduled: true });
      expect((await studio.scheduledReleases(W, 1_000)).map(({ release }) => release)).toEqual([3]);
    });

    test('store a release, its audit entry and the removal of its draft atomically', async () => {
      const publish = (basedOn: number) =>
        studio.addRelease(aRelease({ basedOn }), {
          draftRevision: 'r1',
          audit: (release) => ({ ...anEntry('publish'), details: `release ${release}` }),
        });
      await studio.saveDraft(aDraft('r1'), null);
      expect(await publish(7)).toBeNull();
      expect([await studio.audit(W, { limit: 9 }), (await studio.draft(W, 'spring'))?.revision]).toEqual([
        [],
        'r1',
      ]);
      expect(await publish(0)).toBe(1);
      expect(await studio.audit(W, { limit: 9 })).toMatchObject([{ details: 'release 1' }]);
      expect(await studio.draft(W, 'spring')).toBeNull();
      // A failed entry also rolls back the release, as a process exit would.
      const broken = { ...anEntry('publish'), operator: null as unknown as string };
      await expect(studio.addRelease(aRelease({ basedOn: 1 }), { audit: () => broken })).rejects.toThrow();
      expect(await studio.releaseState(W, 1_000)).toMatchObject({ newest: 1 });
    });

    test('separate the releases of a campaign and a segment with the same ID', async () => {
      await studio.addRelease(aRelease());
      expect(await studio.addRelease(aRelease({ kind: 'segment' }))).toBe(2);
      expect((await studio.liveReleases(W, 1_000)).map(({ kind }) => kind)).toEqual(['campaign', 'segment']);
    });

    test('list releases newest first, by page and by campaign', async () => {
      await studio.addRelease(aRelease());
      await studio.addRelease(aRelease({ subjectId: 'autumn' }));
      await studio.addRelease(aRelease({ basedOn: 1 }));
      const numbers = async (page: Parameters<StudioStore['releases']>[1]) =>
        (await studio.releases(W, page)).map(({ release }) => release);
      expect(await numbers({ limit: 2 })).toEqual([3, 2]);
      expect(await numbers({ limit: 2, before: 2 })).toEqual([1]);
      expect(await numbers({ limit: 9, subject: { kind: 'campaign', subjectId: 'spring' } })).toEqual([3, 1]);
    });

    test('save a draft only if its revision is current', async () => {
      expect(await studio.saveDraft(aDraft('r1'), null)).toBe(true);
      expect(await studio.saveDraft(aDraft('r2', 'Leo'), null)).toBe(false);
      expect(await studio.saveDraft(aDraft('r2', 'Leo'), 'r1')).toBe(true);
      expect(await studio.saveDraft(aDraft('r3'), 'r1')).toBe(false);
      expect(await studio.draft(W, 'spring')).toEqual({ ...aDraft('r2', 'Leo'), review: [] });
      expect(await studio.drafts(W)).toHaveLength(1);
      expect(await studio.drafts('other')).toEqual([]);
      expect(await studio.otherDraftBytes(W, 'spring')).toBe(0);
      expect(await studio.otherDraftBytes(W, 'autumn')).toBeGreaterThan(10);
      expect(await studio.otherDraftBytes('other', 'autumn')).toBe(0);
      expect(await studio.removeDraft(W, 'spring', 'r1')).toBe(false);
      expect(await studio.removeDraft(W, 'spring', 'r2')).toBe(true);
      expect(await studio.draft(W, 'spring')).toBeNull();
    });

    test('store each image of a workspace once, newest first, byte for byte', async () => {
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
      const image = {
        workspaceId: W,
        hash: 'a'.repeat(64),
        type: 'webp',
        width: 1_200,
        height: 600,
        size: bytes.byteLength,
        name: 'Frühling.webp',
        author: 'Mia',
        createdAtMs: 10,
      } as const;
      expect(await studio.addImage(image, bytes)).toBe(true);
      expect(await studio.addImage({ ...image, name: 'again' }, bytes)).toBe(false);
      const newer = { ...image, hash: 'b'.repeat(64), createdAtMs: 20 };
      expect(await studio.addImage(newer, bytes.slice(1))).toBe(true);
      expect(await studio.images(W)).toEqual([newer, image]);
      // Another workspace may have the same image and keeps it.
      expect(await studio.images('other')).toEqual([]);
      expect(await studio.addImage({ ...image, workspaceId: 'other' }, bytes)).toBe(true);
      expect(await studio.removeImage(W, image.hash)).toBe(true);
      expect(await studio.removeImage(W, image.hash)).toBe(false);
      expect(await store.image(image.hash)).toEqual({ type: 'webp', bytes });
      await studio.removeImage('other', image.hash);
      expect(await store.image(image.hash)).toBeNull();
    });

    test('keep sessions until they are closed or expired', async () => {
      const session = {
        workspaceId: W,
        operator: 'Mia',
        proof: { issuer: 'https://id.example', claim: 'groups', values: ['leads'] },
        createdAtMs: 10,
        seenAtMs: 10,
      };
      for (const sessionId of ['one', 'two', 'three']) await studio.openSession({ ...session, sessionId });
      await studio.touchSession('two', 20);
      expect((await studio.sessions(W))[0]).toEqual({ ...session, sessionId: 'two', seenAtMs: 20 });
      await studio.closeSession('one');
      expect(await studio.session('one')).toBeNull();
      await studio.closeOldSessions(5, 15);
      expect((await studio.sessions(W)).map(({ sessionId }) => sessionId)).toEqual(['two']);
      await studio.closeOldSessions(11, 15);
      expect(await studio.session('two')).toBeNull();
    });

    test('list the audit log newest first', async () => {
      const entry = { workspaceId: W, operator: 'Mia', subject: 'spring', details: '' };
      for (const atMs of [1, 2, 3]) await studio.addAudit({ ...entry, atMs, action: `act ${atMs}` });
      await studio.addAudit({ ...entry, atMs: 3, action: 'act 3, too' });
      const all = await studio.audit(W, { limit: 9 });
      expect(all.map(({ action }) => action).slice(2)).toEqual(['act 2', 'act 1']);
    });

    test('page through the audit log without losing entries of the same millisecond', async () => {
      const entry = { workspaceId: W, operator: 'Mia', subject: '', details: '' };
      for (let i = 0; i < 7; i += 1)
        await studio.addAudit({ ...entry, atMs: i < 5 ? 2 : 1, action: `act ${i}` });
      const found: string[] = [];
      for (let page = await studio.audit(W, { limit: 2 }); page.length > 0; ) {
        found.push(...page.map(({ action }) => action));
        page = await studio.audit(W, { limit: 2, before: page.at(-1)! });
      }
      expect(found).toHaveLength(7);
      expect(new Set(found).size).toBe(7);
      expect(found.slice(5).sort()).toEqual(['act 5', 'act 6']);
    });
  });
