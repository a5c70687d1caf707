import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../../src/protocol/index.ts';
import { APP_ID, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { type RunningService, runService } from '../../helpers/running-service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runService([aWorkspace({ placements: [{ placement_id: 'home_hero' }] })]);
});
afterAll(() => service.stop());

const envelope = { external_user_id: 'u-771', app_id: APP_ID, app_version: '1' };
const zipped = (path: string, key: string, body: unknown) =>
  service.call('POST', path, {
    key,
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(typeof body === 'string' ? body : JSON.stringify(body)),
  });

describe('request limits', () => {
  test('limit a placement to 255 characters', async () => {
    const placement = (letters: number) => ({ ...envelope, placements: ['a'.repeat(letters)] });
    expect((await zipped(SYNC_PATH, CLIENT_KEY, placement(255))).status).toBe(200);
    const { status, body } = await zipped(SYNC_PATH, CLIENT_KEY, placement(256));
    expect({ status, body }).toEqual({ status: 400, body: { error: "'placements' is not valid" } });
    expect((await zipped(SYNC_PATH, CLIENT_KEY, placement(4_000_000))).status).toBe(400);
  });

  test('limit the body of a banner endpoint to the maximum size of its members', async () => {
    const filled = (bytes: number) => ({ ...envelope, placements: ['home'], filler: 'x'.repeat(bytes) });
    expect((await zipped(SYNC_PATH, CLIENT_KEY, filled(60_000))).status).toBe(200);
    const { status, body } = await zipped(SYNC_PATH, CLIENT_KEY, filled(66_000));
    expect({ status, body }).toEqual({ status: 400, body: { error: 'Request Entity Too Large' } });
    const events = { ...envelope, events: [], filler: 'x'.repeat(512 * 1024) };
    expect((await zipped(TRACK_PATH, CLIENT_KEY, events)).body).toEqual({
      message: 'Request Entity Too Large',
    });
  });

  test('limit validated banner events to the maximum of a request, so that the response stays small', async () => {
    const events = (count: number) => ({ ...envelope, events: Array.from({ length: count }, () => null) });
    const most = await zipped(TRACK_PATH, CLIENT_KEY, events(1_000));
    expect(most.body.errors).toHaveLength(1_000);
    expect(JSON.stringify(most.body).length).toBeLessThan(64 * 1024);
    const { status, body } = await zipped(TRACK_PATH, CLIENT_KEY, events(1_001));
    expect({ status, body }).toEqual({
      status: 400,
      body: { message: "'events' must hold no more than 1000 events" },
    });
  });

  test('limit the parsed values of /users/track to the maximum of its objects', async () => {
    const objects = `{"attributes":[${'{"a":1},'.repeat(300_000)}{}]}`;
    const { status, body } = await zipped('/users/track', SERVER_KEY, objects);
    const message = 'Request body holds more than 40000 values';
    expect({ status, body }).toEqual({ status: 400, body: { message, errors: [{ type: message }] } });
  });

  test('limit full errors of /users/track/bulk to the first objects, and list every rejected one', async () => {
    const faulty = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`a${at}`, []]));
    const bad = Object.fromEntries(Object.keys(faulty).map((name) => [name, [{}, 1]]));
    const attributes = Array.from({ length: 1_000 }, (_, at) => ({ external_id: `u-${at}`, ...bad }));
    const { body } = await zipped('/users/track/bulk', SERVER_KEY, { attributes });
    expect(body.attributes_processed).toBe(1_000);
    const named = new Set(body.errors.map(({ index }: { index: number }) => index));
    expect(named.size).toBe(1_000);
    expect(body.errors.filter(({ index }: { index: number }) => index === 0)).toHaveLength(10);
    expect(body.errors.length).toBeLessThan(2_001);
  });
});
