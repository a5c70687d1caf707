import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStudioRoutes } from '../../src/studio/server/routes/routes.ts';
import { aWorkspace, CLIENT_KEY, SERVER_KEY } from '../helpers/a-workspace.ts';
import { API_ROUTES, concretePath, keyFor } from '../helpers/api-routes.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';

const document = readFileSync('docs/concepts/threat-model.md', 'utf8');
const getRows = (heading: string): string[] =>
  document
    .split(/^## /m)
    .find((section) => section.startsWith(heading))!
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1);

let service: RunningService;
beforeAll(async () => {
  service = await runService([aWorkspace()]);
});
afterAll(() => service.stop());

test.each(['docs/concepts/threat-model.md', 'docs/reference/accessibility.md'])(
  'every claim of %s refers to existing tests',
  (page) => {
    const named = [...readFileSync(page, 'utf8').matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file!);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((file) => !existsSync(file))).toEqual([]);
  },
);

describe('an API key', () => {
  const send = async (method: string, path: string, key?: string) =>
    (
      await service.call(method, path, {
        ...(key !== undefined && { key }),
        ...(method === 'POST' && { body: {} }),
      })
    ).status;

  test('is required by every endpoint, and must be of the right type', async () => {
    expect(API_ROUTES.filter(({ crossOrigin }) => !crossOrigin).length).toBeGreaterThan(5);
    for (const route of API_ROUTES) {
      const { method, path } = route;
      const concrete = concretePath(route);
      expect(await send(method, concrete), path).toBe(401);
      expect(await send(method, concrete, 'another-key'), path).toBe(401);
      const right = keyFor(route);
      const wrong = right === CLIENT_KEY ? SERVER_KEY : CLIENT_KEY;
      expect([401, 403], path).toContain(await send(method, concrete, wrong));
      expect([401, 403], path).not.toContain(await send(method, concrete, right));
    }
  });

  test('is not required by the service pages in the table', async () => {
    const [anybody = ''] = getRows('Trust boundaries');
    const pages = [...anybody.matchAll(/`(\/[\w./]+)`/g)].map(([, path]) => path!);
    expect(pages).toContain('/metrics');
    for (const path of pages) expect(await send('GET', path), path).toBe(200);
  });
});

test('the table of operator roles lists every Studio route', () => {
  const line = new Map(getRows('Operator roles').map((row) => [/^\| `(\w+)`/.exec(row)?.[1] ?? '', row]));
  for (const { path, role } of createStudioRoutes()) {
    const named = [...(line.get(role) ?? '').matchAll(/`(?:POST )?(\/api\/[^`]+)`/g)].map(
      ([, name]) => name!,
    );
    const isNamed = named.some((name) => path === name || path.startsWith(`${name}/`));
    expect(isNamed, `${role} ${path}`).toBe(true);
  }
});
