import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSettings } from '../../src/telemetry/settings.ts';
import { aWorkspace, SERVER_KEY } from '../helpers/a-workspace.ts';
import { serveCli, spawnCli } from '../helpers/run-cli.ts';

// biome-ignore lint/suspicious/noExplicitAny: OTLP in JSON
type Json = any;

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';

/** OTLP collector on loopback that stores what it receives. */
const receiveOtlp = async () => {
  const received: { path: string; body: Json }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ path: request.url!, body: JSON.parse(Buffer.concat(chunks).toString()) });
      response.setHeader('Content-Type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const bodies = (path: string) => received.filter((each) => each.path === path).map(({ body }) => body);
  return {
    url: `http://127.0.0.1:${port}`,
    spans: (): Json[] =>
      bodies('/v1/traces').flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }: Json) => scopeSpans.flatMap(({ spans }: Json) => spans)),
      ),
    metrics: (): Json[] =>
      bodies('/v1/metrics').flatMap(({ resourceMetrics }) =>
        resourceMetrics.flatMap(({ scopeMetrics }: Json) =>
          scopeMetrics.flatMap(({ metrics }: Json) => metrics),
        ),
      ),
    resources: (): Json[] => bodies('/v1/traces').map(({ resourceSpans }) => resourceSpans[0].resource),
    close: () => new Promise((resolve) => void server.close(resolve)),
  };
};

const toObject = (attributes: Json[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

let folder: string;
let collector: Awaited<ReturnType<typeof receiveOtlp>>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'placard-otlp-'));
  writeFileSync(join(folder, 'workspace.json'), JSON.stringify(aWorkspace()));
  collector = await receiveOtlp();
});
afterEach(async () => {
  await collector.close();
  rmSync(folder, { recursive: true });
});

const serve = (env: Record<string, string>) =>
  serveCli(['--workspace', join(folder, 'workspace.json'), '--db', join(folder, 'a.db'), '--port', '0'], env);

const track = (url: string) =>
  fetch(`${url}/users/track`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${SERVER_KEY}`,
      'content-type': 'application/json',
      traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`,
    },
    body: JSON.stringify({ attributes: [{ external_id: 'u-secret', first_name: 'Jo' }] }),
  });

describe('placard serve with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  test('exports the spans of a request, including its commit, in the trace of the caller', async () => {
    const { child, url, exit } = await serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_SERVICE_NAME: 'banners',
    });
    expect((await track(url)).status).toBe(201);
    child.kill('SIGTERM');
    await exit;
    const spans = collector.spans();
    const byName = new Map(spans.map((span) => [span.name, span]));
    const request = byName.get('POST /users/track');
    expect(request).toMatchObject({ traceId: TRACE_ID, parentSpanId: PARENT_ID, kind: 2 });
    expect(toObject(request.attributes)).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/users/track',
      'http.response.status_code': 201,
    });
    const write = byName.get('store.write');
    expect(write).toMatchObject({ traceId: TRACE_ID, parentSpanId: request.spanId, kind: 3 });
    expect(toObject(write.attributes)).toMatchObject({
      'db.system.name': 'sqlite',
      'db.operation.name': 'write',
    });
    for (const name of ['store.write.prepare', 'store.write.commit'])
      expect(byName.get(name)).toMatchObject({ traceId: TRACE_ID, parentSpanId: write.spanId });
    expect(toObject(collector.resources()[0].attributes)).toMatchObject({
      'service.name': 'banners',
      'deployment.environment.name': 'test',
    });
    // Spans contain no user data.
    expect(JSON.stringify(spans)).not.toMatch(/u-secret|Jo"/);
  });

  test('exports the metrics of /metrics', async () => {
    const { child, url, exit } = await serve({
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
      OTEL_METRIC_EXPORT_INTERVAL: '3600000',
    });
    await track(url);
    await track(url);
    const served = await (await fetch(`${url}/metrics`)).text();
    child.kill('SIGTERM');
    await exit;
    expect(collector.spans()).toEqual([]);
    const metrics = new Map(collector.metrics().map((metric) => [metric.name, metric]));
    const names = [...served.matchAll(/^# TYPE (\w+) (?:counter|gauge|histogram)$/gm)].map(
      ([, name]) => name!,
    );
    expect(names.filter((name) => !metrics.has(name))).toEqual([]);
    const [requests] = metrics.get('placard_http_requests_total').sum.dataPoints;
    expect(metrics.get('placard_http_requests_total').sum).toMatchObject({
      isMonotonic: true,
      aggregationTemporality: 2,
    });
    expect(requests.asDouble).toBe(2);
    expect(toObject(requests.attributes)).toEqual({ endpoint: '/users/track', status: '201' });
    const [latency] = metrics.get('placard_http_request_duration_seconds').histogram.dataPoints;
    expect(latency.bucketCounts).toHaveLength(latency.explicitBounds.length + 1);
    expect(latency.bucketCounts.reduce((sum: number, count: number) => sum + Number(count), 0)).toBe(2);
  });

  test('continues to serve requests and exits without delay if the collector is down', async () => {
    const { child, url, exit, lines } = await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
    expect((await track(url)).status).toBe(201);
    child.kill('SIGTERM');
    expect((await exit).code).toBe(0);
    expect(lines.map(({ msg }) => msg)).toContain('stopped');
  });

  test('rejects an unsupported protocol, and does not start', async () => {
    const words = ['serve', '--workspace', join(folder, 'workspace.json'), '--db', ':memory:', '--port', '0'];
    const { code, stdout } = await spawnCli(words, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    });
    expect(code).toBe(1);
    expect(stdout).toContain(
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json or http/protobuf, got \\"grpc\\"',
    );
  });
});

describe('readSettings', () => {
  const none = { traces: false, metrics: false };
  test.each([
    [{}, none],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }, { traces: true, metrics: true }],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_METRICS_EXPORTER: 'none' },
      { traces: true, metrics: false },
    ],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, { traces: true, metrics: false }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_SDK_DISABLED: 'true' }, none],
  ])('%j', (env, expected) => {
    expect(readSettings(env)).toMatchObject(expected);
  });

  test('reports an invalid exporter and an invalid interval', () => {
    expect(() => readSettings({ OTEL_TRACES_EXPORTER: 'zipkin' })).toThrow(
      'must be otlp or none, got "zipkin"',
    );
    expect(() => readSettings({ OTEL_METRIC_EXPORT_INTERVAL: 'often' })).toThrow('got "often"');
  });
});
