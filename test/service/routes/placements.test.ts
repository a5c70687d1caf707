import { afterEach, expect, test } from 'vitest';
import { pathText, type WorkspaceError } from '../../../src/service/workspace/issues.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { type RunningService, runService } from '../../helpers/running-service.ts';

const bySelector = { placement_id: 'offer', template: 'strip', selector: 'main > h1' };

let service: RunningService;
afterEach(() => service?.stop());

test('returns the placements with a selector, with defaults', async () => {
  const placements = [
    { placement_id: 'home_hero', template: 'hero' },
    bySelector,
    {
      ...bySelector,
      placement_id: 'aside',
      template: 'card',
      insert: 'append',
      paths: ['/products/*'],
      height_px: 300,
    },
    { ...bySelector, placement_id: 'foot', wide_height_px: 80 },
  ];
  service = await runService([aWorkspace({ placements })]);
  const { status, body } = await service.call('POST', '/placard/placements', { key: CLIENT_KEY, body: {} });
  expect(status).toBe(200);
  expect(body.placements).toEqual([
    {
      placement_id: 'offer',
      selector: 'main > h1',
      insert: 'after',
      paths: ['*'],
      template: 'strip',
      height_px: 104,
      wide_height_px: 64,
    },
    {
      placement_id: 'aside',
      selector: 'main > h1',
      insert: 'append',
      paths: ['/products/*'],
      template: 'card',
      height_px: 300,
      wide_height_px: 300,
    },
    {
      placement_id: 'foot',
      selector: 'main > h1',
      insert: 'after',
      paths: ['*'],
      template: 'strip',
      height_px: 104,
      wide_height_px: 80,
    },
  ]);
});

test('requires a client key, and allows pages of any origin', async () => {
  service = await runService([aWorkspace({ placements: [bySelector] })]);
  const status = async (key?: string) =>
    (await service.call('POST', '/placard/placements', { ...(key && { key }), body: {} })).status;
  expect([await status(), await status('none'), await status(SERVER_KEY)]).toEqual([401, 401, 403]);
  const preflight = await service.call('OPTIONS', '/placard/placements', {
    headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
  });
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
});

test('logs a selector without a match once a minute, but not names that the file does not have', async () => {
  service = await runService([aWorkspace({ placements: [bySelector] })]);
  const tell = () =>
    service.call('POST', '/placard/placements', {
      key: CLIENT_KEY,
      body: { missing: ['offer', 'kim@example.org'] },
    });
  await tell();
  await tell();
  const warned = () => service.lines.filter(({ message }) => String(message).startsWith('selector without'));
  expect(warned()).toMatchObject([{ workspace: 'test', placement: 'offer', selector: 'main > h1' }]);
  service.clock.now += 60_000;
  await tell();
  expect(warned()).toHaveLength(2);
});

const getPaths = (placement: object): string[] => {
  try {
    parseWorkspace(aWorkspace({ placements: [{ placement_id: 'offer', ...placement }] }));
    return [];
  } catch (error) {
    return (error as WorkspaceError).issues.map(({ path }) => pathText(path));
  }
};

test.each([
  ['no template', { selector: 'h1' }, 'placements[0].template'],
  ['an insertion without a selector', { insert: 'after' }, 'placements[0].insert'],
  ['paths without a selector', { paths: ['/'] }, 'placements[0].paths'],
  ['a height without a selector', { height_px: 3 }, 'placements[0].height_px'],
  ['a wide height without a selector', { wide_height_px: 3 }, 'placements[0].wide_height_px'],
  ['an unknown insertion', { ...bySelector, insert: 'over' }, 'placements[0].insert'],
  ['a path that is a URL', { ...bySelector, paths: ['https://shop.example/'] }, 'placements[0].paths[0]'],
  ['an unclosed bracket', { ...bySelector, selector: 'a[href' }, 'placements[0].selector'],
  ['crossing brackets', { ...bySelector, selector: ':is(a[b)]' }, 'placements[0].selector'],
  ['an unclosed quote', { ...bySelector, selector: 'a[b="c]' }, 'placements[0].selector'],
  ['a CSS rule', { ...bySelector, selector: 'h1 { color: red }' }, 'placements[0].selector'],
  ['an empty selector', { ...bySelector, selector: ' ' }, 'placements[0].selector'],
])('rejects a file with %s and reports the path', (_, placement, path) => {
  expect(getPaths(placement)).toEqual([path]);
});

test.each(['main > h1', '#a\\:b', 'a[href="/x)"]', ":is(.a, .b):not([data-x='{'])", 'li:nth-child(2n + 1)'])(
  'accepts the selector %s',
  (selector) => {
    expect(getPaths({ ...bySelector, selector })).toEqual([]);
  },
);
