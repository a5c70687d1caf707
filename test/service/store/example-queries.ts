import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { openStore } from '../../../src/service/store/index.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { anApi } from '../users/on-both-stores.ts';

const DOCUMENT = new URL('../../../docs/guides/sql-queries.md', import.meta.url);

interface ExampleQuery {
  title: string;
  /** Statements by the database in their first line; `''` if it names none. */
  statements: Map<string, string>;
}

const toExampleQueries = (markdown: string): ExampleQuery[] =>
  markdown
    .split('\n## ')
    .slice(1)
    .map((section) => ({
      title: section.split('\n', 1)[0]!,
      statements: new Map(
        [...section.matchAll(/```sql\n(?:-- (\w+)\n)?(.*?)```/gs)].map(([, name = '', sql = '']) => [
          name,
          sql,
        ]),
      ),
    }));

const at = (time: string) => Date.parse(time);

/** A campaign with two variants and a control group, with impressions in the week of 2 March 2026 and the next. */
const seed = async (address: string) => {
  const store = await openStore(address);
  const api = anApi(store, { workspace_id: 'demo' });
  api.clock.now = at('2026-04-01T00:00:00Z');
  const purchase = { product_id: 'teapot', currency: 'EUR' };
  const tracked = await api.track({
    attributes: [
      { external_id: 'kim', tier: 'gold', email: 'kim@example.org' },
      { external_id: 'jo', tier: 'silver', email: 'jo@example.org', email_subscribe: 'unsubscribed' },
      { external_id: 'ada', tier: 'gold' },
      { external_id: 'eve', email: 'eve@example.org', email_subscribe: 'opted_in' },
    ],
    events: [
      { external_id: 'kim', name: 'viewed', time: '2026-03-02T09:00:00Z' },
      { external_id: 'kim', name: 'viewed', time: '2026-03-02T09:30:00Z' },
      { external_id: 'eve', name: 'viewed', time: '2026-03-03T09:00:00Z' },
      { external_id: 'eve', name: 'quiz_done', time: '2026-03-03T09:00:00Z' },
    ],
    purchases: [
      { external_id: 'kim', ...purchase, price: 20, quantity: 2, time: '2026-03-04T12:00:00Z' },
      { external_id: 'ada', ...purchase, price: 20, time: '2026-03-01T12:00:00Z' },
      { external_id: 'jo', ...purchase, price: 21.5, time: '2026-03-20T12:00:00Z' },
    ],
  });
  expect(tracked).toMatchObject({ status: 201, body: { message: 'success' } });
  const banner = (
    time: string,
    variantId: string | null = 'a',
    eventType: 'impression' | 'click' | 'dismiss' = 'impression',
  ) =>
    aBannerEvent({
      campaignId: 'spring',
      bannerId: `bnr-${variantId}`,
      variantId,
      isControl: variantId === null,
      eventType,
      timeMs: at(time),
      receivedAtMs: at(time),
    });
  const record = (user: string, ...events: ReturnType<typeof banner>[]) =>
    recordBannerEvents(store, user, events, 'demo');
  await record('kim', banner('2026-03-02T10:00:00Z'), banner('2026-03-02T10:01:00Z', 'a', 'click'));
  await record(
    'jo',
    banner('2026-03-08T23:59:00Z', 'b'),
    banner('2026-03-09T00:00:00Z', 'b'),
    banner('2026-03-09T00:01:00Z', 'b', 'dismiss'),
  );
  await record('ada', banner('2026-03-02T10:00:00Z', null));
  await record('tester', { ...banner('2026-03-02T10:00:00Z'), isTestSend: true });
  await store.close();
};

/** Expected rows, with times as ISO 8601 text. */
const ANSWERS: Record<string, unknown[][]> = {
  'Purchases within a week of a click': [['kim']],
  'Impressions and clicks per variant and week': [
    ['2026-03-02', 'a', 1, 1],
    ['2026-03-02', 'b', 1, 0],
    ['2026-03-09', 'b', 1, 0],
  ],
  'Users per tier': [
    ['gold', 2],
    ['none', 1],
    ['silver', 1],
  ],
  'Revenue per day': [
    ['2026-03-01', 'EUR', 20],
    ['2026-03-04', 'EUR', 40],
    ['2026-03-20', 'EUR', 21.5],
  ],
  'Purchase rate against the control group': [
    [0, 2, 2],
    [1, 1, 0],
  ],
  'Users who dismissed and never clicked': [['jo', 1]],
  'Impressions before the first click': [
    [1, 1, 1],
    [2, 1, 0],
  ],
  'Events of one user': [
    [at('2026-03-02T09:00:00Z'), 'viewed'],
    [at('2026-03-02T09:30:00Z'), 'viewed'],
    [at('2026-03-02T10:00:00Z'), 'impression'],
    [at('2026-03-02T10:01:00Z'), 'click'],
    [at('2026-03-04T12:00:00Z'), 'teapot'],
  ],
  'Most frequent events': [
    ['viewed', 3, 2],
    ['quiz_done', 1, 1],
  ],
  'Active users per day': [
    ['2026-03-01', 1],
    ['2026-03-02', 2],
    ['2026-03-03', 1],
    ['2026-03-04', 1],
    ['2026-03-08', 1],
    ['2026-03-09', 1],
    ['2026-03-20', 1],
  ],
  'Reachable email addresses': [['eve'], ['kim']],
};

/** Normalizes PostgreSQL driver values: counts arrive as text, times as dates, and booleans as booleans. */
const plain = (value: unknown): unknown => {
  if (value instanceof Date) return value.getTime();
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
};

/** Runs every query of `docs/guides/sql-queries.md` on a database with known data. */
export const askAll = async (
  name: 'SQLite' | 'PostgreSQL',
  address: string,
  query: (sql: string) => Promise<Record<string, unknown>[]>,
): Promise<void> => {
  await seed(address);
  const queries = toExampleQueries(readFileSync(DOCUMENT, 'utf8'));
  expect(queries.map(({ title }) => title)).toEqual(Object.keys(ANSWERS));
  for (const { title, statements } of queries) {
    const rows = await query(statements.get(name) ?? statements.get('')!);
    expect(
      rows.map((row) => Object.values(row).map(plain)),
      title,
    ).toEqual(ANSWERS[title]);
  }
};
