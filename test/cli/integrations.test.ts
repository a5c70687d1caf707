import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ingestTap } from '../../src/cli/ingest.ts';
import { createRestClient } from '../../src/server/index.ts';
import { createFakeService } from '../../src/testing/index.ts';
import { ended, runCli, serveCli, spawnCli, startCli } from '../helpers/run-cli.ts';

const TIME = '2026-03-01T10:00:00Z';

/** A workspace from `placard init` with one source, and the settings that the commands need. */
const aWorkspaceFile = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'workspace.json');
  const { stdout } = await spawnCli(['init', file]);
  const content = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  content['integrations'] = [
    {
      integration_id: 'customers',
      source: {
        kind: 'csv',
        files: 'customers.csv',
        rows: 'attributes',
        columns: { PLAN: 'plan', SEATS: 'seats:number' },
      },
    },
    { integration_id: 'listed' },
  ];
  writeFileSync(file, JSON.stringify(content));
  const csv = (...lines: string[]) =>
    writeFileSync(join(folder, 'customers.csv'), `EXTERNAL_ID,UPDATED_AT,PLAN,SEATS\n${lines.join('\n')}\n`);
  const key = /placard_server_[\w-]+/.exec(stdout)![0];
  return { folder, file, csv, key, db: join(folder, 'placard.db') };
};

test('checks, runs, inspects and repairs integrations from the command line', async () => {
  const { file, csv, key, db } = await aWorkspaceFile();
  const missing = await runCli(['check', file, '--sources']);
  expect(missing.code).toBe(1);
  expect(missing.stderr).toMatch(/main: customers: file customers\.csv: ENOENT/);
  csv(`u-1,${TIME},team,12`, `u-2,${TIME},"free ""for ever""",many`);
  const tried = await spawnCli(['check', file, '--sources']);
  expect(tried.stdout).toContain('main: customers: {"plan":"team","seats":12,"external_id":"u-1"}\n');
  expect(tried.stdout).toMatch(/"u-2".* – SEATS is not a number\n/);
  expect(tried.code).toBe(1);

  const { url, child, exit } = await serveCli(['--workspace', file, '--db', db, '--port', '0']);
  const env = { PLACARD_ENDPOINT: url, PLACARD_API_KEY: key };
  const partial = await spawnCli(['integrations', 'sync', 'customers', '--wait'], env);
  expect(partial).toMatchObject({ code: 1, stdout: 'customers: Partial: 1 row stored, 1 rejected\n' });
  expect(partial.stderr).toMatch('placard integrations rejects customers lists the rows');
  expect((await runCli(['integrations', 'sync', 'listed'], env)).stderr).toMatch('no source');
  const rejects = await runCli(['integrations', 'rejects', 'customers', '--csv', '--db', db]);
  expect(rejects.stdout.split('\n')[1]).toMatch(
    /^u-2,2026-03-01T10:00:00\.000000Z,SEATS is not a number,[^"]+Z,"\{""EXTERNAL_ID"":""u-2"",.*free \\""for ever\\"".*\}"$/,
  );
  csv(`u-1,${TIME},team,12`, `u-2,${TIME},free,1`);
  expect(await runCli(['integrations', 'sync', 'customers', '--wait'], env)).toMatchObject({
    code: 0,
    stdout: 'customers: Success: 1 row stored, 0 rejected\n',
  });
  const runs = await runCli(['integrations', 'runs', 'customers'], env);
  const statuses = runs.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).job_status);
  expect(statuses).toEqual(['Success', 'Partial']);

  // A tap that repeats its last record.
  const messages = [
    { type: 'SCHEMA', stream: 'orders', schema: {}, key_properties: ['id'] },
    { type: 'RECORD', stream: 'orders', record: { customer: 'u-1', at: TIME, kind: 'ordered', total: 5 } },
    { type: 'STATE', value: { orders: 1 } },
    { type: 'RECORD', stream: 'orders', record: { customer: 'u-1', at: 'soon', kind: 'ordered' } },
    { type: 'RECORD', stream: 'other', record: {} },
    { type: 'STATE', value: { orders: 2 } },
  ];
  const columns = 'customer=external_id,at=time,kind=name,total=properties.total';
  const tap = await startCli(
    ['ingest', '-', '--as', 'events', '--columns', columns, '--stream', 'orders'],
    env,
  );
  tap.stdin!.end(messages.map((message) => JSON.stringify(message)).join('\n'));
  expect(await ended(tap)).toEqual({
    code: 2,
    signal: null,
    stdout: '{"orders":1}\n{"orders":2}\n',
    stderr: "line 4: 'time' is not valid\n1 record stored, 1 rejected\nplacard: 1 record rejected\n",
  });

  child.kill('SIGTERM');
  expect((await exit).code).toBe(0);
  const users = await runCli(['export', 'users', '--db', db]);
  expect(users.stdout.match(/"seats":\d+/g)?.sort()).toEqual(['"seats":1', '"seats":12']);
  expect((await runCli(['export', 'events', '--db', db])).stdout).toContain('"total":5');
});

test('does not echo a state if earlier records are not stored', async () => {
  const env = { PLACARD_ENDPOINT: 'http://127.0.0.1:1', PLACARD_API_KEY: 'key' };
  const tap = await startCli(['ingest', '-', '--as', 'attributes'], env);
  tap.stdin!.end(
    '{"type":"RECORD","stream":"a","record":{"external_id":"u-1"}}\nnonsense\n{"type":"STATE","value":1}\n',
  );
  expect(await ended(tap)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching('line 2 is not a Singer message'),
  });
});

/** Runs `ingest` on these lines in this process against a fake service. */
const tapped = async (
  lines: (string | Buffer)[],
  service = createFakeService(),
  more: { columns?: string; stream?: string } = {},
) => {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const client = createRestClient({
    endpoint: service.origin,
    apiKey: 'server-key',
    fetch: service.fetch,
    sleep: async () => undefined,
  });
  async function* input() {
    for (const line of lines) yield Buffer.concat([Buffer.from(line), Buffer.from('\n')]);
  }
  const options = { array: 'attributes', columns: undefined, stream: undefined, ...more } as const;
  const end = await ingestTap({ client, input: input(), ...options }).catch((error: Error) => error.message);
  const states = out.mock.calls.map(([text]) => text);
  out.mockRestore();
  return { end, states, objects: service.objects };
};
const STATE = '{"type":"STATE","value":1}';
const aRecord = (id: string) =>
  JSON.stringify({ type: 'RECORD', stream: 'a', record: { external_id: 'u-1', note: id } });

test('does not echo a state if the response for earlier records was lost, because the tap would not resend them', async () => {
  const service = createFakeService();
  service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });
  expect(await tapped([aRecord('x'), aRecord('y'), STATE], service)).toEqual({
    end: 'no response to 2 records from line 1 on: they may or may not be stored',
    states: [],
    objects: [],
  });
});

test('accepts every character in a message of a tap, and rejects invalid UTF-8', async () => {
  const note = 'a\u2028b\u2029c\ufffd';
  expect(await tapped([`${aRecord(note)}\r`, STATE])).toMatchObject({
    end: { stored: 1, rejected: 0 },
    objects: [{ object: { note } }],
  });
  expect(await tapped([Buffer.from(aRecord('J\xf6rg'), 'latin1'), STATE])).toEqual({
    end: 'line 1 is not UTF-8',
    states: [],
    objects: [],
  });
});

describe('placard ingest with a tap', () => {
  test('fails at a message of an unsupported type, before the next state', async () => {
    const batch =
      '{"type":"BATCH","stream":"a","encoding":{"format":"jsonl"},"manifest":["file:///tmp/a.jsonl"]}';
    expect(await tapped([aRecord('x'), batch, STATE])).toMatchObject({
      end: 'line 2 is a BATCH message, which ingest does not read: let the tap send RECORD',
      states: [],
    });
    // BATCH messages of ignored streams are skipped.
    const other = batch.replace('"a"', '"b"');
    expect(await tapped([aRecord('x'), other, STATE], undefined, { stream: 'a' })).toMatchObject({
      end: { stored: 1, rejected: 0 },
      states: ['1\n'],
    });
  });

  test('does not echo the state of other streams', async () => {
    expect(await tapped([aRecord('x'), STATE], undefined, { stream: 'as' })).toMatchObject({
      end: 'no message is of the stream "as"; the tap sent a',
      states: [],
      objects: [],
    });
    // A stream may start after another stream's state, and may have no new records.
    const schema = '{"type":"SCHEMA","stream":"b","schema":{},"key_properties":[]}';
    expect(await tapped([aRecord('x'), STATE, schema], undefined, { stream: 'b' })).toMatchObject({
      end: { stored: 0, rejected: 0 },
      states: ['1\n'],
    });
  });

  test('applies the types of --columns, and keeps the digits of large integers', async () => {
    const record = '{"id":12345678901234567890,"seats":"12","active":"t","plan":7}';
    const columns = 'id=external_id,seats=seats:number,active=active:boolean,plan=plan:text';
    const message = `{"type":"RECORD","stream":"a","record":${record}}`;
    const wrong = message.replace('"12"', '"many"');
    expect(await tapped([message, wrong, STATE], undefined, { columns })).toMatchObject({
      end: { stored: 1, rejected: 1 },
      objects: [{ object: { external_id: '12345678901234567890', seats: 12, active: true, plan: '7' } }],
    });
    expect(await tapped([message.replace('"12"', '1e999'), STATE], undefined, { columns })).toMatchObject({
      end: 'line 1: "seats" is 1e999, too large for a number',
      states: [],
    });
    expect(await tapped([STATE], undefined, { columns: 'seats=seats:int' }).catch(String)).toMatchObject({
      end: expect.stringMatching('write text, number, boolean, json after the colon'),
    });
  });
});

test('reports the reason of a failed run in each list', async () => {
  const { file, key, db } = await aWorkspaceFile();
  const { url, child, exit, lines } = await serveCli(['--workspace', file, '--db', db, '--port', '0']);
  const env = { PLACARD_ENDPOINT: url, PLACARD_API_KEY: key };
  const failed = await spawnCli(['integrations', 'sync', 'customers', '--wait'], env);
  expect(failed.stderr).toMatch(/the run of customers ended as Error: .*ENOENT/);
  expect(failed.stderr).not.toMatch('rejects');
  const runs = await runCli(['integrations', 'runs', 'customers'], env);
  expect(JSON.parse(runs.stdout)).toMatchObject({
    job_status: 'Error',
    message: expect.stringMatching('ENOENT'),
  });
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(
    /placard_ingestion_runs_total\{workspace="main",integration="customers",status="error",reason="source"\} 1/,
  );
  child.kill('SIGTERM');
  await exit;
  expect(lines.find(({ msg }) => msg === 'integration failed')).toMatchObject({
    integration: 'customers',
    message: expect.stringMatching('ENOENT'),
  });
});

test('exports rejects as CSV without formulas and terminal sequences', async () => {
  const { file, csv, key, db } = await aWorkspaceFile();
  csv(`=cmd|' /C calc'!A0,${TIME},team,many`, `\u001b]0;owned\u0007,${TIME},team,many`);
  const { url, child, exit } = await serveCli(['--workspace', file, '--db', db, '--port', '0']);
  const env = { PLACARD_ENDPOINT: url, PLACARD_API_KEY: key };
  await spawnCli(['integrations', 'sync', 'customers', '--wait'], env);
  const { stdout } = await runCli(['integrations', 'rejects', 'customers', '--csv', '--db', db]);
  expect(stdout).toMatch(/^'=cmd\|' \/C calc'!A0,/m);
  expect(stdout).toMatch(/^"\ufffd\]0;owned\ufffd",/m);
  child.kill('SIGTERM');
  await exit;
});
