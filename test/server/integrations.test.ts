import { describe, expect, it } from 'vitest';
import type { Integration } from '../../src/server/index.ts';
import { ApiError } from '../../src/server/index.ts';
import { arrangeRestClient } from '../helpers/rest-client.ts';

const anIntegration = (at: number): Integration => ({
  integration_id: `i-${at}`,
  app_group_id: 'g',
  integration_name: `Integration ${at}`,
  integration_type: 'users',
  integration_status: 'active',
  contact_emails: 'a@example.com,b@example.com',
  last_updated_at: '2026-03-01T04:10:22Z',
  warehouse_type: 'snowflake',
  last_job_start_time: '',
  last_job_status: 'Success',
  next_scheduled_run: '',
});
const some = (count: number) => Array.from({ length: count }, (_, at) => anIntegration(at));

const all = async (list: AsyncIterable<Integration>): Promise<Integration[]> => {
  const found: Integration[] = [];
  for await (const integration of list) found.push(integration);
  return found;
};

describe('client.integrations()', () => {
  it.each([0, 1, 10, 11, 20, 25])('lists all %i integrations in order', async (count) => {
    const { client, fake } = arrangeRestClient({}, { integrations: some(count) });
    expect(await all(client.integrations())).toEqual(some(count));
    expect(fake.requests).toHaveLength(Math.max(1, Math.ceil(count / 10)));
  });

  it('requests a page only when the caller reaches it', async () => {
    const { client, fake } = arrangeRestClient({}, { integrations: some(30) });
    for await (const { integration_id } of client.integrations()) if (integration_id === 'i-9') break;
    expect(fake.requests).toHaveLength(1);
  });

  it('returns an opaque cursor unchanged, including special characters', async () => {
    const cursors: (string | null)[] = [];
    const { client } = arrangeRestClient({
      fetch: async (input) => {
        const cursor = new URL((input as Request).url).searchParams.get('cursor');
        cursors.push(cursor);
        const headers: Record<string, string> =
          cursor === null ? { link: '</cdi/integrations?cursor=a+b/c==>; rel="next"' } : {};
        return Response.json({ results: [], message: 'success' }, { headers });
      },
    });
    await all(client.integrations());
    expect(cursors).toEqual([null, 'a+b/c==']);
  });

  it('rejects a link to another origin instead of returning a partial list', async () => {
    const asked: string[] = [];
    const { client } = arrangeRestClient({
      fetch: async (input) => {
        asked.push((input as Request).url);
        const link = '<https://elsewhere.example/cdi/integrations?cursor=x>; rel="next"';
        return Response.json({ results: some(1), message: 'success' }, { headers: { link } });
      },
    });
    await expect(all(client.integrations())).rejects.toThrow('is not on http://placard.test');
    expect(asked).toHaveLength(1);
  });

  it('stops if the pages form a cycle', async () => {
    const { client } = arrangeRestClient({
      fetch: async () =>
        Response.json(
          { results: some(1), message: 'success' },
          { headers: { link: '</cdi/integrations?cursor=same>; rel="next"' } },
        ),
    });
    await expect(all(client.integrations())).rejects.toThrow('repeats cursor same');
  });

  it('distinguishes disabled ingestion from an empty list', async () => {
    const { client } = arrangeRestClient({}, { integrations: null });
    const listing = all(client.integrations());
    await expect(listing).rejects.toBeInstanceOf(ApiError);
    await expect(listing).rejects.toMatchObject({
      status: 404,
      endpoint: 'GET /cdi/integrations',
      retryable: false,
      serverMessage: 'Integration list not found',
      errors: [{ type: 'Integration list not found' }],
    });
  });

  it('reads null as an empty string', async () => {
    const { client } = arrangeRestClient({
      fetch: async () =>
        Response.json({ results: [{ ...anIntegration(0), last_job_start_time: null }], message: 'success' }),
    });
    expect((await all(client.integrations()))[0]!.last_job_start_time).toBe('');
  });

  it('reports the problem of a response that is not a list', async () => {
    const { client } = arrangeRestClient({
      fetch: async () => Response.json({ results: 7, message: 'success' }),
    });
    await expect(all(client.integrations())).rejects.toThrow(/returned an invalid list: results/);
  });

  it('continues after temporary failures', async () => {
    const { client, fake } = arrangeRestClient({}, { integrations: some(12) });
    fake.fail({ type: 'drop', when: 'after' });
    fake.fail({ type: 'status', status: 502, body: '<html>Bad gateway</html>' });
    fake.fail({ type: 'truncate' });
    expect(await all(client.integrations())).toHaveLength(12);
  });

  it('stops when its signal aborts', async () => {
    const { client, fake } = arrangeRestClient({}, { integrations: some(12) });
    fake.fail({ type: 'hang' });
    const controller = new AbortController();
    const listing = all(client.integrations({ signal: controller.signal }));
    controller.abort(new Error('No time left'));
    await expect(listing).rejects.toThrow('No time left');
  });
});
