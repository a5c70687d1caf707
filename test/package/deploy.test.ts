import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { aWorkspace } from '../helpers/a-workspace.ts';
import { inPath, needs } from '../helpers/machine.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';

const DASHBOARD = 'deploy/grafana-dashboard.json';
const ALERTS = 'deploy/prometheus-alerts.yaml';

let service: RunningService;
/** Names of the series in /metrics, including the suffixes of histograms. */
let served: Set<string>;
let paths: string[];

beforeAll(async () => {
  service = await runService([aWorkspace()]);
  const metrics: string = (await service.call('GET', '/metrics')).body;
  served = new Set(
    [...metrics.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((ending) => name + ending) : [name!],
    ),
  );
  paths = Object.keys((await service.call('GET', '/openapi.json')).body.paths);
});
afterAll(() => service.stop());

describe.each([DASHBOARD, ALERTS])('%s', (file) => {
  const text = readFileSync(file, 'utf8');

  test('uses only metrics that the service has', () => {
    const asked = [...new Set(text.match(/\b(?:placard|process|nodejs)_\w+/g))];
    expect(asked.length).toBeGreaterThan(4);
    expect(asked.filter((name) => !served.has(name))).toEqual([]);
  });

  test('uses only endpoints that the service has', () => {
    const named = [...text.matchAll(/endpoint=\\?"([^"\\]+)/g)].map(([, path]) => path!);
    expect(named.filter((path) => !paths.includes(path))).toEqual([]);
  });
});

test('the dashboard is valid JSON, and its panels do not overlap', () => {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    panels: { id: number; gridPos: { x: number; y: number } }[];
  };
  const places = panels.map(({ gridPos: { x, y } }) => `${x},${y}`);
  expect(new Set(places).size).toBe(panels.length);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});

describe('the workflows', () => {
  const getJobs = (name: string) =>
    readFileSync(`.github/workflows/${name}`, 'utf8')
      .replace(/^\s*#.*$/gm, '')
      .split(/^ {2}(?=\w+:$)/m);

  test.each(['check.yaml', 'release.yaml'])('pin actions to a commit in %s', (name) => {
    const used = getJobs(name)
      .join('')
      .match(/uses: .*/g);
    expect(used?.length).toBeGreaterThan(1);
    for (const line of used ?? [])
      expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('publish in a job that does not run code of the repository or of a package', () => {
    const [head = '', ...jobs] = getJobs('release.yaml').filter((part) => !part.startsWith('push:'));
    expect(head).not.toContain('write');
    const withRights = jobs.filter((job) => job.includes(': write'));
    expect(withRights.map((job) => job.split(':')[0])).toEqual(['publish', 'notes']);
    for (const job of withRights) expect(job).not.toMatch(/checkout|\.ci\/|npm (?:ci|install|test|run)|npx/);
  });
});

describe('the Compose file', () => {
  interface ComposeService {
    mem_limit?: string;
    pids_limit?: number;
    volumes?: string[];
    environment?: Record<string, unknown>;
    depends_on?: string[] | Record<string, unknown>;
  }
  const compose = parse(readFileSync('deploy/compose.yaml', 'utf8')) as {
    services: Record<string, ComposeService>;
    volumes: Record<string, unknown>;
  };
  const services = Object.values(compose.services);
  const names = Object.keys(compose.services);

  test('limits memory and processes of every container', () => {
    expect(names).toHaveLength(4);
    for (const { mem_limit, pids_limit } of services) {
      expect(mem_limit).toMatch(/^\d+[gm]$/);
      expect(pids_limit).toBeGreaterThan(0);
    }
  });

  test('refers only to services, volumes and files that exist', () => {
    const dependencies = services.flatMap(({ depends_on = [] }) =>
      Array.isArray(depends_on) ? depends_on : Object.keys(depends_on),
    );
    expect(dependencies.filter((name) => !names.includes(name))).toEqual([]);
    const sources = services.flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0]!));
    // The operator puts the workspace file beside it.
    const missing = sources.filter((source) =>
      source.startsWith('./') ? !existsSync(join('deploy', source)) : !(source in compose.volumes),
    );
    expect([...new Set(missing)]).toEqual(['./workspace.json']);
    const upstreams = readFileSync('deploy/Caddyfile', 'utf8').match(/placard-\d+/g)!;
    expect([...new Set(upstreams)].sort()).toEqual(names.filter((name) => name.startsWith('placard-')));
  });

  test('sets only variables that the service reads', () => {
    const variables = services
      .flatMap(({ environment = {} }) => Object.keys(environment))
      .filter((name) => name.startsWith('PLACARD_'));
    const command = readFileSync('src/cli/serve.ts', 'utf8');
    expect(variables.length).toBeGreaterThan(4);
    expect(variables.filter((name) => !new RegExp(`\\b${name}\\b`).test(command))).toEqual([]);
  });
});

describe('deployment files, checked by their own tools', () => {
  const has = (program: string, what: string) => needs(what, inPath(program) !== undefined);

  test('the alert rules are valid (promtool)', has('promtool', 'apt-get install prometheus'), () => {
    expect(execFileSync('promtool', ['check', 'rules', ALERTS], { encoding: 'utf8' })).toContain('SUCCESS');
  });

  test('the proxy configuration is valid (caddy)', has('caddy', 'apt-get install caddy'), () => {
    const args = ['validate', '--adapter', 'caddyfile', '--config', 'deploy/Caddyfile'];
    const { status, stderr } = spawnSync('caddy', args, { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
  });

  test(
    'the unit is valid, except for the missing package (systemd)',
    has('systemd-analyze', 'apt-get install systemd'),
    () => {
      const args = ['verify', './deploy/placard.service'];
      const { stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
      expect(stderr.split('\n').filter((line) => line && !/is not executable/.test(line))).toEqual([]);
    },
  );
});
