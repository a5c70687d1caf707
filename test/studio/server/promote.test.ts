import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listenStudio } from '../../../src/studio/index.ts';
import { aCampaign } from '../../helpers/a-workspace.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

let production: RunningStudio;
let staging: RunningStudio;
let cookie: string;
let port: Awaited<ReturnType<typeof listenStudio>>;
beforeAll(async () => {
  production = await runStudio();
  port = await listenStudio(production.studio, { port: 0 });
  const studio = { environments: [{ name: 'Production', studio_url: port.url }] };
  staging = await runStudio(aStudioWorkspace({ studio }));
  cookie = await staging.signIn('Ed');
});
afterAll(async () => {
  await port.stop();
  await Promise.all([production.stop(), staging.stop()]);
});

const draft = (studio: RunningStudio, campaign: object, session: string, more = {}) =>
  studio.call('PUT', '/api/drafts/summer', { body: { campaign, based_on: 0 }, cookie: session, ...more });
const promote = (body: object) =>
  staging.call('POST', '/api/campaigns/summer/promote', {
    body: { environment: 'Production', key: 'Ed-key', ...body },
    cookie,
  });

describe('Copy to environment', () => {
  test('compares the campaign first, then copies it as a draft and records both sides', async () => {
    const campaign = aCampaign({ campaign_id: 'summer', name: 'Summer' });
    expect((await draft(staging, campaign, cookie)).status).toBe(200);
    const { status, body } = await promote({});
    expect([status, body.before, body.seen]).toEqual([200, null, { revision: null, based_on: 0 }]);
    expect(await production.store.studio.drafts('test')).toEqual([]);

    const copied = await promote({ seen: body.seen });
    expect([copied.status, copied.body.url]).toEqual([200, `${port.url}/campaigns/summer`]);
    const [stored] = await production.store.studio.drafts('test');
    expect([stored?.campaign, stored?.editor]).toEqual([campaign, 'Ed']);
    const entries = await staging.store.studio.audit('test', { limit: 10 });
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'campaign.promote', subject: 'summer', details: 'to Production' }),
    );
  });

  test('does not replace a draft that was changed in the other Studio after the comparison', async () => {
    const { body } = await promote({});
    expect(body.before.name).toBe('Summer');
    const there = await production.signIn('Pia');
    const theirs = aCampaign({ campaign_id: 'summer', name: 'Theirs' });
    await draft(production, theirs, there, { ifMatch: body.seen.revision });
    const copied = await promote({ seen: body.seen });
    expect([copied.status, copied.body.message]).toEqual([422, 'Production: Draft was changed elsewhere']);
    expect((await production.store.studio.drafts('test'))[0]?.campaign).toEqual(theirs);
  });

  test('reports a wrong key, a role that may not edit, and an unknown or unreachable environment', async () => {
    const key = await promote({ key: 'wrong' });
    expect([key.status, key.body.message]).toEqual([422, 'Production: Unknown operator key']);
    const { body } = await promote({ key: 'Vera-key' });
    const role = await promote({ key: 'Vera-key', seen: body.seen });
    expect(role.body.message).toBe('Production: Requires role "edit" (you have "view")');
    expect((await promote({ environment: 'http://127.0.0.1:1' })).status).toBe(404);
    await port.stop();
    expect((await promote({})).body.message).toBe('Production cannot be reached');
  });
});
