import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import { aCampaign } from '../../helpers/a-workspace.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import {
  anOperator,
  aStudioWorkspace,
  OPERATORS,
  type RunningStudio,
  runStudio,
} from '../../helpers/running-studio.ts';

const CAMPAIGN = aCampaign({ campaign_id: 'sale', placements: ['home'] });

describe.each(STORES)('review of a draft on $name', ({ address }) => {
  let store: Store;
  let studio: RunningStudio;
  let pia: string;
  let paul: string;
  let revision: string;
  beforeEach(async () => {
    store = await openStore(await address());
    const content = aStudioWorkspace({
      operators: [...OPERATORS, anOperator('Paul', 'publish')],
      studio: { require_approval: true },
    });
    studio = await runStudio(content, { store: keptOpen(store) });
    pia = await studio.signIn('Pia');
    paul = await studio.signIn('Paul');
    revision = await save(pia);
  });
  afterEach(async () => {
    await studio.stop();
    await store.close();
  });

  const save = async (cookie: string, name = 'Sale', over?: string): Promise<string> => {
    const body = { campaign: { ...CAMPAIGN, name }, based_on: 0 };
    const answer = await studio.call('PUT', '/api/drafts/sale', {
      body,
      cookie,
      ...(over && { ifMatch: over }),
    });
    return answer.body.revision;
  };
  const review = (cookie: string, action: string, more: Record<string, unknown> = {}) =>
    studio.call('POST', '/api/drafts/sale/review', { cookie, body: { action, note: '', revision, ...more } });
  const publish = (cookie: string) =>
    studio.call('POST', '/api/releases', { cookie, body: { campaign_id: 'sale', revision, note: '' } });

  test('lets the author publish only the approved revision', async () => {
    expect((await publish(pia)).status).toBe(403);
    await review(pia, 'request', { note: 'For Monday' });
    expect((await publish(pia)).status).toBe(403);
    await review(paul, 'approve');
    const former = revision;
    revision = await save(pia, 'Sale!', former);
    expect((await publish(pia)).status).toBe(403);
    const { body } = await review(paul, 'approve');
    expect(body.review).toMatchObject([
      { operator: 'Pia', action: 'request', note: 'For Monday', revision: former },
      { operator: 'Paul', action: 'approve', revision: former },
      { operator: 'Paul', action: 'approve', revision },
    ]);
    expect((await publish(pia)).status).toBe(201);
    const { entries } = (await studio.call('GET', '/api/audit', { cookie: await studio.signIn('Ada') })).body;
    expect(entries.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(['draft.request', 'draft.approve']),
    );
  });

  test('keeps the approval after a comment, and revokes it if the draft is sent back', async () => {
    await review(paul, 'approve');
    await review(pia, 'comment', { note: 'Thanks' });
    await review(paul, 'send_back');
    expect((await publish(pia)).status).toBe(403);
    await review(paul, 'approve');
    await review(pia, 'comment');
    expect((await publish(pia)).status).toBe(201);
  });

  test('rejects an approval by its author, by the wrong role, or of another revision', async () => {
    expect((await review(pia, 'approve')).status).toBe(403);
    const ed = await studio.signIn('Ed');
    expect((await review(ed, 'approve')).status).toBe(403);
    expect((await review(ed, 'comment')).status).toBe(200);
    expect((await review(paul, 'approve', { revision: 'another' })).status).toBe(412);
    expect(
      (
        await studio.call('POST', '/api/drafts/none/review', {
          cookie: pia,
          body: { action: 'comment', note: '', revision },
        })
      ).status,
    ).toBe(404);
  });

  test('keeps every comment if operators comment at once', async () => {
    await Promise.all([review(pia, 'comment', { note: 'one' }), review(paul, 'comment', { note: 'two' })]);
    const { body } = await studio.call('GET', '/api/campaigns/sale', { cookie: pia });
    expect(body.draft.review.map(({ note }: { note: string }) => note).sort()).toEqual(['one', 'two']);
  });

  test('lists the operators who have the campaign open, for half a minute', async () => {
    const report = (cookie: string, id = 'sale') =>
      studio.call('PUT', `/api/campaigns/${id}/presence`, { cookie });
    expect((await report(pia)).body).toEqual({ operators: [] });
    expect((await report(paul)).body).toEqual({ operators: ['Pia'] });
    await report(pia, 'other');
    expect((await report(paul)).body).toEqual({ operators: [] });
    await report(pia);
    studio.clock.now += 31_000;
    expect((await report(paul)).body).toEqual({ operators: [] });
  });
});
