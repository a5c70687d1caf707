import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { annotationsFor } from '../../src/mcp/tool.ts';
import { aCampaign } from '../helpers/a-workspace.ts';
import { runCli, spawnCli } from '../helpers/run-cli.ts';
import { runMcpStudio } from '../helpers/running-mcp.ts';
import { aStudioWorkspace } from '../helpers/running-studio.ts';

let mcp: Awaited<ReturnType<typeof runMcpStudio>>;
beforeAll(async () => {
  mcp = await runMcpStudio(aStudioWorkspace({ campaigns: [aCampaign({ campaign_id: 'spring' })] }));
});
afterAll(() => mcp.stop());

const getTools = async (operator: string) => {
  const { client } = await mcp.connect(operator);
  return (await client.listTools()).tools;
};

describe('placard mcp', () => {
  test.each([
    ['2026-07-28', { pin: '2026-07-28' }],
    ['2025-11-25', 'legacy'],
  ] as const)('serves clients of %s over stdio, with nothing else on stdout', async (version, mode) => {
    const { client, call, protocolErrors } = await mcp.connect('Vera', mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toMatchObject({ name: 'placard' });
    expect(client.getInstructions()).toContain('get_workspace');
    expect((await call('get_campaign', { campaign_id: 'spring' })).value.published.campaign.campaign_id).toBe(
      'spring',
    );
    expect(protocolErrors).toEqual([]);
  });

  test('responds to raw JSON-RPC with one message a line, and exits at the end of stdin', async () => {
    const { child, lines, ended } = await mcp.raw('Vera');
    const ask = async (
      id: number,
      method: string,
      params: Record<string, unknown> = {},
      revision = '2026-07-28',
    ) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': revision,
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })}\n`);
      return lines.next();
    };
    expect(await ask(0, 'server/discover', {}, '2099-01-01')).toMatchObject({
      error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } },
    });
    expect(await ask(1, 'server/discover')).toMatchObject({
      id: 1,
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: { listChanged: false } },
      },
    });
    const listed = await ask(2, 'tools/list');
    expect(listed.result).toMatchObject({ ttlMs: expect.any(Number), cacheScope: 'private' });
    expect(await ask(3, 'tools/call', { name: 'no_such_tool', arguments: {} })).toMatchObject({
      error: { code: -32602 },
    });
    expect(await ask(4, 'no/such')).toMatchObject({ error: { code: -32601 } });
    child.stdin!.end();
    expect(await ended).toMatchObject({ code: 0 });
  });

  test('accepts each earlier revision', async () => {
    const { child, lines, ended } = await mcp.raw('Vera');
    for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
      expect((await lines.next()).result).toMatchObject({ protocolVersion });
    }
    child.stdin!.end();
    expect(await ended).toMatchObject({ code: 0 });
  });

  test('lists only the tools of the role, each with a strict object as input', async () => {
    const names = async (operator: string) => (await getTools(operator)).map(({ name }) => name);
    const [view, edit, publish] = [await names('Vera'), await names('Ed'), await names('Pia')];
    expect(view).not.toContain('create_draft');
    expect(edit).toEqual([...view, 'create_draft', 'update_draft', 'create_preview_link']);
    expect(publish).toEqual([...edit, 'publish_campaign', 'stop_campaign']);
    const documented = readFileSync('docs/guides/agents.md', 'utf8')
      .split('\n')
      .filter((line) => /^\| `(view|edit|publish)` /.test(line))
      .flatMap((line) => [...line.split('|')[2]!.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(documented.sort()).toEqual([...publish].sort());
    for (const { inputSchema, title, description } of await getTools('Pia')) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(title).toBeTruthy();
      expect(description).toBeTruthy();
    }
  });

  test('annotates reads as read-only, and publish, stop and update as destructive', async () => {
    const tools = new Map((await getTools('Pia')).map(({ name, annotations }) => [name, annotations]));
    for (const [name, annotations] of tools) expect(annotations).toEqual(annotationsFor(name));
    expect(tools.get('get_results')).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(tools.get('create_draft')).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    for (const name of ['publish_campaign', 'stop_campaign', 'update_draft'])
      expect(tools.get(name)).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  });

  test('rejects unknown and invalid arguments with a result that names them', async () => {
    const { call } = await mcp.connect('Pia');
    const unknown = await call('get_campaign', { campaign_id: 'spring', verbose: true });
    expect(unknown).toMatchObject({ isError: true, text: expect.stringContaining('verbose') });
    const both = await call('check_campaign', { campaign_id: 'spring', campaign: { campaign_id: 'spring' } });
    expect(both).toMatchObject({
      isError: true,
      text: expect.stringContaining('either campaign_id or campaign'),
    });
    const missing = await call('get_campaign', { campaign_id: 'sprnig' });
    expect(missing).toMatchObject({
      isError: true,
      text: expect.stringContaining('the campaigns are: "spring"'),
    });
  });

  test('does not read users without the permission to view them', async () => {
    const explainInput = async (operator: string) =>
      (await getTools(operator)).find(({ name }) => name === 'explain_placement')!.inputSchema.properties;
    expect(await explainInput('Pia')).not.toHaveProperty('user_id');
    expect(await explainInput('Ada')).toHaveProperty('user_id');
    const { call } = await mcp.connect('Pia');
    expect(await call('explain_placement', { user_id: 'u1' })).toMatchObject({ isError: true });
    expect(await call('explain_placement', { persona: 'Gold' })).toMatchObject({ isError: false });
    expect((await call('get_reach', { campaign_id: 'spring' })).value).toMatchObject({ fewerThan: 20 });
    // The Studio checks permissions, whatever the client sends.
    const named = { campaign: aCampaign({ audience: { external_id: 'u1' } }) };
    expect(await call('get_reach', named)).toMatchObject({
      isError: true,
      text: expect.stringContaining('can_view_users'),
    });
  });

  test('records every call with valid arguments in the audit log, without the user of an explanation', async () => {
    const { call } = await mcp.connect('Ada');
    await call('explain_placement', { user_id: 'u-771' });
    await call('get_results', { campaign_id: 'spring' });
    // Recorded before the tool runs, so that a failed call has an entry too.
    expect(await call('get_campaign', { campaign_id: 'sprnig' })).toMatchObject({ isError: true });
    expect(await call('get_campaign', { id: 'spring' })).toMatchObject({ isError: true });
    const entries = await mcp.studio.store.studio.audit('test', { limit: 50 });
    const told = entries
      .filter(({ operator, action }) => operator === 'Ada' && action !== 'operator.sign_in')
      .map(({ action, subject, details }) => [action, subject, details]);
    expect(told.sort()).toEqual([
      ['tool.call', '', 'explain_placement'],
      ['tool.call', 'spring', 'get_results'],
      ['tool.call', 'sprnig', 'get_campaign'],
      ['user.view', 'u-771', ''],
    ]);
  });

  test('signs in again after its session has ended', async () => {
    const { call } = await mcp.connect('Vera');
    for (const { sessionId } of await mcp.studio.store.studio.sessions('test'))
      await mcp.studio.store.studio.closeSession(sessionId);
    expect((await call('list_campaigns')).value.items).toHaveLength(1);
  });

  test('exits with one sentence if the URL, the key or the Studio is missing', async () => {
    const key = { PLACARD_OPERATOR_KEY: 'Vera-key' };
    expect((await runCli(['mcp'], key)).stderr).toContain('specify --studio-url');
    expect((await runCli(['mcp', '--studio-url', 'studio'], key)).stderr).toContain('must be a URL');
    expect((await runCli(['mcp', '--studio-url', mcp.url])).stderr).toContain('set PLACARD_OPERATOR_KEY');
    const wrong = await runCli(['mcp', '--studio-url', mcp.url], { PLACARD_OPERATOR_KEY: 'op_wrong' });
    expect(wrong).toMatchObject({ code: 1, stderr: 'placard: Unknown operator key\n' });
    expect(await spawnCli(['mcp', '--studio-url', 'http://127.0.0.1:9'], key)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('the Studio at http://127.0.0.1:9 cannot be reached'),
    });
  });
});
