// The audit log for admins: paged, searched and exported.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

let studio: RunningStudio;
let ada: string;
beforeAll(async () => {
  studio = await runStudio();
  ada = await studio.signIn('Ada');
  for (let entry = 0; entry < 120; entry += 1) {
    await studio.store.studio.addAudit({
      workspaceId: 'test',
      atMs: studio.clock.now + entry,
      operator: 'Pia',
      action: entry % 40 === 0 ? 'stop' : 'publish',
      subject: `sale-${entry}`,
      details: entry === 7 ? '=HYPERLINK("https://evil.example")' : '',
    });
  }
});
afterAll(() => studio.stop());

const ask = async (query: string) => (await studio.call('GET', `/api/audit?${query}`, { cookie: ada })).body;
type Entry = { action: string; subject: string };

/** All pages of a search result. */
const all = async (find: string): Promise<Entry[]> => {
  const entries: Entry[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const page: { entries: Entry[]; before: string | null } = await ask(`find=${find}&before=${before}`);
    entries.push(...page.entries);
    before = page.before;
  }
  return entries;
};

test('lists every entry on exactly one page, with and without a search', async () => {
  const subjects = (await all('')).map(({ subject }) => subject).filter((subject) => subject !== '');
  expect(subjects).toHaveLength(120);
  expect(new Set(subjects).size).toBe(120);
  expect(await all('PUBLISH')).toHaveLength(117);
  expect((await all('stop')).map(({ subject }) => subject)).toEqual(['sale-80', 'sale-40', 'sale-0']);
  expect(await all('unknown action')).toEqual([]);
});

test('exports the matches without cells that a spreadsheet executes', async () => {
  const { body, headers } = await studio.call('GET', '/api/audit?find=sale-7&as=csv', { cookie: ada });
  expect(headers.get('content-disposition')).toContain('audit.csv');
  const [heads, ...lines] = body.trim().split('\r\n');
  expect(heads).toBe('at,operator,action,subject,name,details');
  // sale-7 and sale-70 to sale-79
  expect(lines).toHaveLength(11);
  expect(lines.at(-1)).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
});

test('rejects requests of operators other than admins', async () => {
  const pia = await studio.signIn('Pia');
  expect((await studio.call('GET', '/api/audit?as=csv', { cookie: pia })).status).toBe(403);
});
