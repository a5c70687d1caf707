import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createService, openStore } from '../../src/service/index.ts';
import { aWorkspace, SERVER_KEY } from '../helpers/a-workspace.ts';
import { aDatabase } from '../helpers/postgres.ts';
import { aFolder, exported, getRejects, ingest } from './ingest.ts';

const DAY = '2026-03-01T00:00:00Z';
const PERMISSIONS = ['users.track', 'users.alias.new', 'users.delete'];

describe.each([
  ['SQLite', () => ':memory:'],
  ['PostgreSQL', aDatabase],
])('the rejects of an erased user, on %s', (_, address) => {
  const aService = async () => {
    const store = await openStore(await address());
    const workspace = aWorkspace({
      api_keys: [{ type: 'server', key: SERVER_KEY, permissions: PERMISSIONS }],
    });
    const service = createService({ workspaces: [workspace], store });
    onTestFinished(() => service.close());
    const post = async (path: string, body: unknown) => {
      const headers = { Authorization: `Bearer ${SERVER_KEY}`, 'Content-Type': 'application/json' };
      const response = await service.fetch(
        new Request(`http://service${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
      );
      expect(response.ok).toBe(true);
      return response.json();
    };
    const kim = { external_id: 'kim', email: 'Kim@Example.org', phone: '+48 600 700 800' };
    await post('/users/track', { attributes: [kim] });
    await post('/users/alias/new', {
      user_aliases: [{ external_id: 'kim', alias_label: 'crm', alias_name: '77' }],
    });
    const folder = aFolder();
    /** Ingests a CSV whose rows are all rejected. */
    const reject = async (header: string, rows: string[], source = {}) => {
      const lines = [`${header},UPDATED_AT,PAYLOAD`, ...rows.map((row) => `${row},${DAY},no JSON`)];
      writeFileSync(join(folder, 'users.csv'), lines.join('\n'));
      await ingest(store, { kind: 'csv', files: 'users.csv', rows: 'attributes', ...source }, folder);
      expect(await getRejects(store)).toHaveLength(rows.length);
    };
    return { store, post, reject };
  };

  test.each([
    ['external ID', 'EXTERNAL_ID', () => 'kim', 'lee'],
    ['alias', 'ALIAS_LABEL,ALIAS_NAME', () => 'crm,77', 'crm,78'],
    ['braze_id', 'BRAZE_ID', (id: string) => id, '12'],
    ['e-mail address in other letters', 'EMAIL', () => 'KIM@example.org', 'lee@example.org'],
    ['phone number with other separators', 'PHONE', () => '+48-600-700-800', '+48 600 700 801'],
  ])('are deleted if they identify the user by %s, and others stay', async (_, header, name, other) => {
    const { store, post, reject } = await aService();
    const [user] = await exported(store, 'users');
    await reject(header, [name(String(user!['braze_id'])), other]);
    expect(await post('/users/delete', { external_ids: ['kim'] })).toMatchObject({ deleted: 1 });
    expect(await getRejects(store)).toEqual([[other.replace(',', '\u001f'), expect.any(String)]]);
  });

  test('are deleted even if all rows of the user were rejected and the user was never stored', async () => {
    const { store, post, reject } = await aService();
    await reject('EMAIL', ['new@example.org', 'lee@example.org']);
    expect(await post('/users/delete', { email_addresses: ['New@example.org'] })).toMatchObject({
      deleted: 0,
    });
    expect(await getRejects(store)).toEqual([['lee@example.org', expect.any(String)]]);
  });

  test('are deleted if the row has no key and another column identifies the user', async () => {
    const { store, post, reject } = await aService();
    await reject('EXTERNAL_ID,MAIL', [',kim@example.org'], { columns: { MAIL: 'email' } });
    await post('/users/delete', { external_ids: ['kim'] });
    expect(await getRejects(store)).toEqual([]);
  });
});
