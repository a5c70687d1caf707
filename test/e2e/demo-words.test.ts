import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { announcement, startProblem } from '../../demo/server/announce.ts';
import { readSettings, SettingsError } from '../../demo/server/settings.ts';
import { createFaults } from '../../demo/shop/faults.ts';
import { openStore } from '../../src/service/index.ts';

describe('the switches', () => {
  const url = 'http://127.0.0.1:8787/v1/device-messaging/banners/track';
  const track = (events: unknown[]) => new Request(url, { method: 'POST', body: JSON.stringify({ events }) });
  const recording = () => {
    const sent: unknown[] = [];
    const faults = createFaults(async (input) => {
      sent.push(await new Request(input).json());
      return Response.json({ message: 'success' });
    });
    return { faults, sent };
  };

  test('let everything pass while none is on', async () => {
    const { faults, sent } = recording();
    await faults.fetch(track([{ id: 'a', timestamp: 't' }]));
    expect(sent).toEqual([{ events: [{ id: 'a', timestamp: 't' }] }]);
  });

  test('fail as a network does, and answer as a service in trouble does', async () => {
    const { faults, sent } = recording();
    faults.set('offline', true);
    await expect(faults.fetch(track([]))).rejects.toThrow(TypeError);
    faults.set('offline', false);
    faults.set('down', true);
    expect((await faults.fetch(track([]))).status).toBe(503);
    faults.set('down', false);
    faults.set('busy', true);
    const busy = await faults.fetch(track([]));
    expect([busy.status, busy.headers.get('x-ratelimit-retry-after')]).toEqual([429, '8']);
    expect(sent).toEqual([]);
  });

  test('spoil one event of one batch, and switch themselves off', async () => {
    const { faults, sent } = recording();
    const heard: boolean[] = [];
    faults.subscribe(() => heard.push(faults.isOn('bad-event')));
    faults.set('bad-event', true);
    for (const _ of [1, 2])
      await faults.fetch(
        track([
          { id: 'a', timestamp: 't' },
          { id: 'b', timestamp: 't' },
        ]),
      );
    expect(sent).toEqual([
      { events: [{ id: 'a' }, { id: 'b', timestamp: 't' }] },
      {
        events: [
          { id: 'a', timestamp: 't' },
          { id: 'b', timestamp: 't' },
        ],
      },
    ]);
    expect(heard).toEqual([true, false]);
  });
});

describe('the start', () => {
  test('prints one curl line that a shell takes as it is', () => {
    const lines = announcement({
      url: 'http://127.0.0.1:8787',
      studioUrl: 'http://127.0.0.1:8788',
      hasDemoKeys: true,
      isMadeUp: true,
    }).split('\n');
    const curl = lines.filter((line) => line.trim().startsWith('curl '));
    expect(curl).toHaveLength(1);
    const [, body = ''] = /-d '([^']+)'$/.exec(curl[0]!) ?? [];
    expect(JSON.parse(body)).toMatchObject({ external_user_id: 'mira', placements: ['home_hero'] });
  });

  test('says that the people of the month are made up, and how to begin without them', () => {
    const urls = { url: 'http://127.0.0.1:8787', studioUrl: 'http://127.0.0.1:8788', hasDemoKeys: true };
    expect(announcement({ ...urls, isMadeUp: true })).toMatch(
      /made-up month: 3,000 people .*npm start -- --empty/s,
    );
    expect(announcement({ ...urls, isMadeUp: false })).not.toContain('made-up');
  });

  test('says in one sentence that the port is taken', () => {
    const error = Object.assign(new Error('listen'), { code: 'EADDRINUSE', port: 8787 });
    expect(startProblem(error)).toBe(
      'Port 8787 is taken. Stop what uses it, or choose another: PORT=8797 PLACARD_DB=other.db npm start',
    );
    expect(startProblem(new Error('something else'))).toBeNull();
  });

  test('says in one sentence that the workspace file is not there', () => {
    const error = Object.assign(new Error('open'), { code: 'ENOENT', path: 'mine.json' });
    expect(startProblem(error)).toBe('mine.json is not there: set PLACARD_WORKSPACE to a workspace file.');
  });

  test('says in one sentence that the database is in use', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'placard-claimed-'));
    const file = join(folder, 'demo.db');
    const store = await openStore(file);
    expect(startProblem(await openStore(file).catch((error: unknown) => error))).toMatch(
      /^The demo already runs, or another program has its database: .+ PORT=8797 PLACARD_DB=other\.db npm start$/,
    );
    await store.close();
    await rm(folder, { recursive: true });
  });

  test('says in one sentence what is wrong with the port', () => {
    const refused = () => readSettings({ PORT: 'eighty' }, []);
    expect(refused).toThrow(SettingsError);
    expect(startProblem(new SettingsError('PORT: no'))).toBe('PORT: no');
  });

  test('makes up a month for the demo’s own campaigns alone, and with --empty none, in a database of its own', () => {
    expect(readSettings({}, [])).toMatchObject({ makesMonth: true });
    expect(readSettings({ PLACARD_WORKSPACE: 'mine.json' }, [])).toMatchObject({ makesMonth: false });
    expect(readSettings({}, ['--empty'])).toMatchObject({ makesMonth: false });
    expect(readSettings({}, ['--empty']).db).not.toBe(readSettings({}, []).db);
    expect(() => readSettings({}, ['--emtpy'])).toThrow('--emtpy: the demo knows one option, --empty');
  });

  test('refuses a port that is none', () => {
    expect(() => readSettings({ PORT: 'eighty' }, [])).toThrow(
      'PORT: expected a number from 0 to 65535, got "eighty"',
    );
    expect(readSettings({}, [])).toMatchObject({ port: 8787, host: '127.0.0.1' });
    expect(readSettings({ PORT: '', HOST: '' }, [])).toMatchObject({ port: 8787, host: '127.0.0.1' });
  });
});
