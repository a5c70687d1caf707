import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveMcpBridge } from '../helpers/mcp-http-bridge.ts';
import { startCli } from '../helpers/run-cli.ts';
import { runMcpStudio } from '../helpers/running-mcp.ts';

const SUITE = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Checks, as `scenario/check`, that do not apply to `placard mcp`, by the reason. */
const NOT_APPLICABLE: Readonly<Record<string, RegExp>> = {
  'needs a tool of the example server of the suite': new RegExp(
    '^(tools-call-|elicitation-|input-required-result-|json-schema-2020-12/|http-custom-header-|' +
      'server-stateless/sep-2575-(server-rejects-undeclared-capability|server-no-log-without-loglevel)$)',
  ),
  'the server declares tools only: no resources, prompts, completions or logging':
    /^(resources-|prompts-|completion-|logging-|sep-2164-|caching\/sep-2549-(resources|prompts)-)/,
  'about HTTP: status codes, headers, sessions and event streams, which the bridge does not have':
    /^(dns-rebinding-|http-header-|server-sse-|server-session-|server-initialize\/server-session-|server-stateless\/.*(http|subscription|notification-filter))/,
  'the SDK checks the revision only in the first message of a connection, which the raw test covers':
    /^server-stateless\/sep-2575-server-unsupported-version-error$/,
};

const PASSED: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    'ping/ping',
    'server-initialize/server-initialize',
    'tools-list/tools-list',
    'tools-list/tools-name-format',
  ],
  '2026-07-28': [
    'caching/sep-2549-cache-scope-valid',
    'caching/sep-2549-tools-list-caching-hints',
    'caching/sep-2549-ttl-non-negative',
    'server-stateless/sep-2575-discover-capabilities-match-handlers',
    'server-stateless/sep-2575-request-meta-client-info-optional',
    'server-stateless/sep-2575-request-meta-invalid-missing-client-capabilities',
    'server-stateless/sep-2575-request-meta-invalid-missing-meta',
    'server-stateless/sep-2575-request-meta-invalid-missing-protocol-version',
    'server-stateless/sep-2575-server-declares-prompts-in-discover',
    'server-stateless/sep-2575-server-identifies-in-result-meta',
    'server-stateless/sep-2575-server-implements-discover',
    'tools-list/tools-list',
    'tools-list/tools-list-deterministic-order',
    'tools-list/tools-name-format',
  ],
};

/** Check of the suite on each message of a scenario, also of one that does not apply. */
const WIRE_SCHEMA = 'wire-schema-valid';

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** Runs all scenarios of a revision in one process, and returns their checks. */
const runSuite = async (url: string, revision: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-conformance-'));
  const args = ['server', '--url', url, '--spec-version', revision, '--suite', 'all', '--output-dir', folder];
  // It exits with 1, because some scenarios do not apply.
  await new Promise((done) => execFile(process.execPath, [SUITE, ...args], done));
  const checks: (Check & { name: string })[] = [];
  for (const run of await readdir(folder)) {
    const scenario = run.replace(/^server-(.+?)-\d{4}-\d\d-\d\dT.*/, '$1');
    for (const check of JSON.parse(await readFile(join(folder, run, 'checks.json'), 'utf8')) as Check[])
      checks.push({ ...check, name: `${scenario}/${check.id}` });
  }
  await rm(folder, { recursive: true });
  return checks;
};

/** A request of revision 2026-07-28, which a connection over stdio keeps from its first request on. */
const FIRST_REQUEST = JSON.stringify({
  jsonrpc: '2.0',
  id: 'first',
  method: 'tools/list',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});

let mcp: Awaited<ReturnType<typeof runMcpStudio>>;
beforeAll(async () => {
  mcp = await runMcpStudio();
});
afterAll(() => mcp.stop());

describe('placard mcp', () => {
  test.each(['2025-11-25', '2026-07-28'])('passes the conformance suite of %s', async (revision) => {
    const child = await startCli(['mcp', '--studio-url', mcp.url], { PLACARD_OPERATOR_KEY: 'Pia-key' });
    const bridge = await serveMcpBridge(child);
    if (revision === '2026-07-28') await fetch(bridge.url, { method: 'POST', body: FIRST_REQUEST });
    const checks = await runSuite(bridge.url, revision);
    await bridge.stop();

    const messages = checks.filter(({ id }) => id === WIRE_SCHEMA);
    expect(messages.length).toBeGreaterThan(20);
    expect(messages.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
    const applicable = checks.filter(
      ({ id, name }) =>
        id !== WIRE_SCHEMA && !Object.values(NOT_APPLICABLE).some((pattern) => pattern.test(name)),
    );
    expect(applicable.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
    expect(applicable.map(({ name }) => name).sort()).toEqual(PASSED[revision]);
  });
});
