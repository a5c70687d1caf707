import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { API_ROUTES } from '../helpers/api-routes.ts';
import { inPath, needs } from '../helpers/machine.ts';
import { renderChart } from '../helpers/render-chart.ts';

const CHART = 'deploy/chart';
const STUDIO = { studio: { url: 'https://studio.example', serviceUrl: 'https://api.example' } };
const INGRESS = {
  ingress: {
    enabled: true,
    apiHost: 'api.example',
    studioHost: 'studio.example',
    tlsSecret: 'tls',
    className: 'nginx',
  },
};

const ofKind = (manifests: ReturnType<typeof renderChart>, kind: string) =>
  manifests.filter((each) => each.kind === kind);

describe('values.yaml', () => {
  const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8'));
  const values = parse(readFileSync(`${CHART}/values.yaml`, 'utf8'));
  const validate = new Ajv({ strict: false }).compile(schema);

  test('matches its schema, which lists every value', () => {
    expect(validate(values), JSON.stringify(validate.errors)).toBe(true);
    expect(Object.keys(values).filter((name) => !Object.hasOwn(schema.properties, name))).toEqual([]);
  });

  test('is rejected with an unknown or invalid value', () => {
    expect(validate({ ...values, replica: 3 })).toBe(false);
    expect(validate({ ...values, replicas: 0 })).toBe(false);
  });
});

describe('the rendered chart', () => {
  const manifests = renderChart({ ...STUDIO, ...INGRESS, env: { OTEL_SERVICE_NAME: 'banners' } });
  const [deployment] = ofKind(manifests, 'Deployment');
  const pod = deployment.spec.template;
  const [container] = pod.spec.containers;

  test('has two replicas, at least one in a disruption and both in an update', () => {
    expect(deployment.spec.replicas).toBe(2);
    expect(deployment.spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const [budget] = ofKind(manifests, 'PodDisruptionBudget');
    expect(budget.spec.minAvailable).toBe(1);
  });

  test('selects only its own pods', () => {
    const selectors = [
      deployment.spec.selector.matchLabels,
      ...ofKind(manifests, 'PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels),
      ...ofKind(manifests, 'Service').map(({ spec }) => spec.selector),
    ];
    expect(selectors).toHaveLength(4);
    for (const selector of selectors) expect(pod.metadata.labels).toMatchObject(selector);
  });

  test('probes the paths and ports of the service', () => {
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'api' });
    expect(container.startupProbe.httpGet).toEqual({ path: '/readyz', port: 'api' });
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'api' });
    const ports = container.ports.map(({ name }: { name: string }) => name);
    const targets = ofKind(manifests, 'Service').flatMap(({ spec }) =>
      spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
    );
    expect(targets).toEqual(ports);
  });

  test('reads secrets from files of a mounted Secret, never from variables', () => {
    const env = new Map<string, string>(
      container.env.map(({ name, value }: Record<string, string>) => [name!, value!]),
    );
    const [mount] = container.volumeMounts;
    expect(mount).toMatchObject({ mountPath: '/run/secrets/placard', readOnly: true });
    expect(pod.spec.volumes[0]).toMatchObject({ name: mount.name, secret: { secretName: 'placard' } });
    expect(env.get('PLACARD_DB_FILE')).toBe('/run/secrets/placard/db');
    expect(env.get('PLACARD_DB')).toBe('');
    expect(env.get('OTEL_SERVICE_NAME')).toBe('banners');
    const source = readFileSync('src/cli/serve.ts', 'utf8') + readFileSync('src/cli/database.ts', 'utf8');
    const names = [...env.keys()].filter((name) => name.startsWith('PLACARD_'));
    expect(names.filter((name) => !source.includes(name.replace(/_FILE$/, '')))).toEqual([]);
  });

  test('runs pods without root on a read-only root file system, with time to drain', () => {
    expect(pod.spec.terminationGracePeriodSeconds).toBe(40);
    expect(pod.spec.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
    expect(pod.spec.automountServiceAccountToken).toBe(false);
  });

  test('exposes every API endpoint through the ingress, but not metrics and health checks', () => {
    const [ingress] = ofKind(manifests, 'Ingress');
    const [api, studio] = ingress.spec.rules;
    const prefixes: string[] = api.http.paths.map(({ path }: { path: string }) => path);

    const hidden = API_ROUTES.filter(({ path }) => !prefixes.some((prefix) => path.startsWith(`${prefix}/`)));
    expect(hidden.map(({ path }) => path)).toEqual([]);
    for (const path of ['/metrics', '/healthz', '/readyz'])
      expect(prefixes.some((prefix) => path.startsWith(prefix))).toBe(false);
    expect(studio.host).toBe('studio.example');
    expect(ingress.spec.tls[0].hosts).toEqual(['api.example', 'studio.example']);
  });

  test('omits the Studio if it is disabled, and requires its URL otherwise', () => {
    const without = renderChart({ studio: { enabled: false } });
    expect(ofKind(without, 'Service')).toHaveLength(1);
    expect(ofKind(without, 'Ingress')).toEqual([]);
    expect(JSON.stringify(without)).not.toContain('STUDIO');
    expect(() => renderChart()).toThrow('studio.url is required');
  });

  const isInstalled = (program: string, url: string) =>
    needs(`${program}: ${url}`, inPath(program) !== undefined);
  const SETTINGS = ['--set', 'studio.url=https://studio.example'];

  test('passes helm lint', isInstalled('helm', 'https://helm.sh'), () => {
    expect(execFileSync('helm', ['lint', '--strict', CHART, ...SETTINGS], { encoding: 'utf8' })).toContain(
      '0 chart(s) failed',
    );
  });

  test('equals the output of Helm', isInstalled('helm', 'https://helm.sh'), () => {
    const rendered = execFileSync('helm', ['template', 'test', CHART, ...SETTINGS], { encoding: 'utf8' });
    const documents = rendered.split(/^---$/m).flatMap((text) => parse(text) ?? []);
    const byName = (all: ReturnType<typeof renderChart>) =>
      all.toSorted((one, other) =>
        `${one.kind} ${one.metadata.name}`.localeCompare(`${other.kind} ${other.metadata.name}`),
      );
    expect(byName(documents)).toEqual(byName(renderChart({ studio: { url: 'https://studio.example' } })));
  });

  test(
    'matches the schemas of Kubernetes (kubeconform)',
    isInstalled('kubeconform', 'https://github.com/yannh/kubeconform'),
    () => {
      const input = manifests.map((each) => JSON.stringify(each)).join('\n---\n');
      execFileSync('kubeconform', ['-strict', '-'], { input });
    },
  );
});
