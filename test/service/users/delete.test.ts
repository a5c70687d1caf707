import { describe, expect, test } from 'vitest';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { NOW, onBothStores } from './on-both-stores.ts';

onBothStores('/users/delete', (api, store) => {
  const erase = (body: unknown) => api().post('/users/delete', body);
  const lastWorkspace = async () => {
    const ids = await store().workspaceIds();
    return ids.sort((one, other) => Number(one.slice(2)) - Number(other.slice(2))).at(-1)!;
  };
  const externalIds = async () => (await api().users()).map((user) => user['external_id']).sort();

  const addUsers = () =>
    api().track({
      attributes: [
        { external_id: 'kim', email: 'both@example.org', phone: '+48123456789' },
        { external_id: 'jo', email: 'both@example.org' },
        { user_alias: { alias_name: 'crm-1', alias_label: 'crm' }, _update_existing_only: false, n: 1 },
      ],
      events: [
        { external_id: 'kim', name: 'quiz_done', time: '2026-03-01T08:00:00Z' },
        { external_id: 'jo', name: 'quiz_done', time: '2026-03-01T08:00:00Z' },
      ],
    });

  test('erases users by external ID with their events, and returns their number', async () => {
    await addUsers();
    const answer = await erase({ external_ids: ['kim', 'nobody', 'kim'] });
    expect(answer).toEqual({ status: 201, body: { deleted: 1, message: 'success' } });
    expect(await externalIds()).toEqual(['jo', undefined]);
    expect((await api().events()).map((event) => event['external_id'])).toEqual(['jo']);
    expect(await erase({ external_ids: ['kim'] })).toMatchObject({ body: { deleted: 0 } });
  });

  test('does not find a user by erased identifiers, and creates a new user for later objects with that ID', async () => {
    await addUsers();
    const before = await api().user('kim');
    await erase({ phone_numbers: [{ phone: '+48123456789', prioritization: ['identified'] }] });
    const export_ = (body: unknown) => api().post('/users/export/ids', body);
    expect((await export_({ phone: '+48123456789' })).body['users']).toEqual([]);
    await api().track({ attributes: [{ external_id: 'kim', n: 2 }] });
    const after = await api().user('kim');
    expect(after).toMatchObject({ custom_attributes: { n: 2 } });
    expect(after).not.toHaveProperty('email');
    expect(after?.['braze_id']).not.toBe(before?.['braze_id']);
  });

  test('erases by alias, by braze_id, and by an address of one user', async () => {
    await addUsers();
    const aliases = [{ alias_name: 'crm-1', alias_label: 'crm' }];
    expect(await erase({ user_aliases: aliases })).toMatchObject({ body: { deleted: 1 } });
    const several = { email_addresses: ['both@example.org'] };
    expect(await erase(several)).toMatchObject({ status: 201, body: { deleted: 0 } });
    const newest = [{ email: 'both@example.org', prioritization: ['most_recently_updated'] }];
    expect(await erase({ email_addresses: newest })).toMatchObject({ body: { deleted: 1 } });
    const [left] = await api().users();
    expect(await erase({ braze_ids: [left?.['braze_id']] })).toMatchObject({ body: { deleted: 1 } });
    expect(await api().users()).toEqual([]);
  });

  test('erases a user who only has banner events', async () => {
    await addUsers();
    const workspaceId = await lastWorkspace();
    await recordBannerEvents(store(), 'passer-by', [aBannerEvent()], workspaceId);
    expect(await erase({ external_ids: ['passer-by'] })).toMatchObject({ body: { deleted: 1 } });
    expect((await store().loadTargetingData(workspaceId, 'passer-by', 0)).campaigns).toEqual([]);
    const exported = store().exportBannerEvents(workspaceId)[Symbol.asyncIterator]();
    expect(await exported.next()).toMatchObject({ done: true });
  });

  test('keeps audit entries of views without the user', async () => {
    await addUsers();
    const workspaceId = await lastWorkspace();
    const entry = { workspaceId, atMs: NOW, operator: 'Mia', subject: 'kim', details: '' };
    await store().studio.addAudit({ ...entry, action: 'user.view' });
    await store().studio.addAudit({ ...entry, action: 'campaign.publish' });
    await erase({ external_ids: ['kim'] });
    const audit = await store().studio.audit(workspaceId, { limit: 10 });
    expect(audit.map(({ action, subject }) => `${action}:${subject}`).sort()).toEqual([
      'campaign.publish:kim',
      'user.view:',
    ]);
  });

  describe('rejects', () => {
    test.each([
      [[], 'Request body must be a JSON object'],
      [{}, 'Exactly one of'],
      [{ external_ids: ['kim'], braze_ids: ['1'] }, 'Exactly one of'],
      [{ external_ids: 'kim' }, "'external_ids' must be an array"],
      [{ external_ids: Array(51).fill('kim') }, "'external_ids' may not have more than 50 entries"],
      [{ external_ids: ['kim', {}] }, "'external_ids[1]' is not valid"],
      // PostgreSQL text cannot contain U+0000.
      [{ external_ids: ['kim', 'a\u0000'] }, "'external_ids[1]' is not valid"],
      [{ braze_ids: ['\u0000'] }, "'braze_ids[0]' is not valid"],
      [{ user_aliases: [{ alias_name: 'a' }] }, "'user_aliases[0]' is not valid"],
      [
        { email_addresses: [{ email: 'both@example.org', prioritization: ['least_recently_updated'] }] },
        "'email_addresses[0]' is not valid",
      ],
    ])('%j without deleting users', async (body, message) => {
      await addUsers();
      const answer = await erase(body);
      expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
      expect(await api().users()).toHaveLength(3);
    });
  });
});
