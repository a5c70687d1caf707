import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findCursor, parseLink } from '../../../src/protocol/index.ts';
import { aWorkspace, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { asServer, type RunningService, runService } from '../../helpers/running-service.ts';

const records = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    integration_id: `i-${index}`,
    integration_name: `nightly ${index}`,
    last_job_start_time: null,
  }));

const another = (id: string, members: Record<string, unknown>) =>
  aWorkspace({
    workspace_id: id,
    api_keys: [{ type: 'server', key: `${id}-key`, permissions: ['cdi.integration_list'] }],
    ...members,
  });

let service: RunningService;
beforeAll(async () => {
  service = await runService([
    aWorkspace({
      integrations: records(25),
      limits: { cdi_integrations: { requests: 10_000, window_seconds: 60 } },
    }),
    another('ten', { integrations: records(10) }),
    another('none', { integrations: [] }),
    another('absent', {}),
  ]);
});
afterAll(() => service.stop());

const list = (cursor = '', key = SERVER_KEY) => service.call('GET', `/cdi/integrations${cursor}`, { key });
const ids = (body: { results: { integration_id: string }[] }) =>
  body.results.map(({ integration_id }) => integration_id);
const encoded = (text: string) => encodeURIComponent(Buffer.from(text).toString('base64'));

describe('contract 2.1: GET /cdi/integrations', () => {
  test('returns ten per page, with every member as text', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body.message).toBe('success');
    expect(ids(body)).toEqual(records(10).map(({ integration_id }) => integration_id));
    expect(body.results[0]).toEqual({
      integration_id: 'i-0',
      app_group_id: 'test',
      integration_name: 'nightly 0',
      integration_type: '',
      integration_status: '',
      contact_emails: '',
      last_updated_at: '',
      warehouse_type: '',
      last_job_start_time: '',
      last_job_status: '',
      next_scheduled_run: '',
    });
  });

  test('returns relative links in both directions, prev first, separated by a comma without a space', async () => {
    expect((await list()).headers.get('link')).toBe('</cdi/integrations?cursor=c2tpcDoxMA==>; rel="next"');
    expect((await list('?cursor=c2tpcDoxMA==')).headers.get('link')).toBe(
      '</cdi/integrations?cursor=c2tpcDow>; rel="prev",</cdi/integrations?cursor=c2tpcDoyMA==>; rel="next"',
    );
    expect((await list('?cursor=c2tpcDoyMA==')).headers.get('link')).toBe(
      '</cdi/integrations?cursor=c2tpcDoxMA==>; rel="prev"',
    );
  });

  test('returns every record once to a client that follows the links, in both directions', async () => {
    const walk = async (relation: 'next' | 'prev', from: string) => {
      const seen: string[] = [];
      let cursor: string | undefined = from;
      while (cursor !== undefined) {
        const { body, headers } = await list(cursor && `?cursor=${encodeURIComponent(cursor)}`);
        seen.push(...ids(body));
        const target: string | undefined = parseLink(headers.get('link'))[relation];
        cursor = target && findCursor(target, service.url);
      }
      return seen;
    };
    expect(await walk('next', '')).toEqual(records(25).map(({ integration_id }) => integration_id));
    expect((await walk('prev', 'c2tpcDoyMA==')).length).toBe(25);
  });

  test('omits the Link header if all records fit on one page', async () => {
    expect((await list('', 'ten-key')).headers.get('link')).toBeNull();
    const none = await list('', 'none-key');
    expect(none.body).toEqual({ results: [], message: 'success' });
    expect(none.headers.get('link')).toBeNull();
  });

  test('accepts a cursor with offset 0, an empty cursor, and base64url or unpadded cursors', async () => {
    for (const cursor of ['?cursor=c2tpcDow', '?cursor=', '?cursor', '?']) {
      const { status, body, headers } = await list(cursor);
      expect({ cursor, status, first: ids(body)[0] }).toEqual({ cursor, status: 200, first: 'i-0' });
      expect(headers.get('link')).not.toContain('prev');
    }
    for (const cursor of ['?cursor=c2tpcDoxMA', '?cursor=c2tpcDoxMA%3D%3D', '?cursor=c2tpcDoxMA==&page=2']) {
      expect(ids((await list(cursor)).body)[0]).toBe('i-10');
    }
  });

  test('returns an empty page with a link back for a cursor past the end', async () => {
    const { status, body, headers } = await list(`?cursor=${encoded('skip:1000')}`);
    expect({ status, body }).toEqual({ status: 200, body: { results: [], message: 'success' } });
    expect(headers.get('link')).toBe('</cdi/integrations?cursor=c2tpcDoyMA==>; rel="prev"');
  });

  test.each([
    'skip:5',
    'skip:-10',
    'skip:1e1',
    'skip:010',
    'skip:00',
    'skip:',
    'skip: 10',
    'skip:10 ',
    'skip:99999999999999999990',
    'take:10',
    '',
  ])('returns 400 for a cursor that contains "%s"', async (text) => {
    const { status, body } = await list(`?cursor=${encoded(text) || '%00'}`);
    expect({ status, body }).toEqual({
      status: 400,
      body: { message: 'Invalid cursor', errors: [{ type: 'Invalid cursor' }] },
    });
  });

  test.each(['10', 'skip:10', '%F0%9F%8E%89', 'c2tpcDoxMA===', 'c2tp*cDoxMA==', '..%2F..'])(
    'returns 400 for the cursor %s',
    async (cursor) => {
      expect((await list(`?cursor=${cursor}`)).status).toBe(400);
    },
  );

  test('returns 404 without ingestion, unlike an empty list', async () => {
    const { status, body } = await list('', 'absent-key');
    const text = 'Integration list not found';
    expect({ status, body }).toEqual({ status: 404, body: { message: text, errors: [{ type: text }] } });
  });

  test('returns only integrations of its workspace', async () => {
    expect(ids((await list('', 'ten-key')).body)).toHaveLength(10);
    expect((await service.call('GET', '/cdi/integrations', asServer)).body.results[0].app_group_id).toBe(
      'test',
    );
  });
});
