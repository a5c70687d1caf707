import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formatIssue, loadWorkspaces, WorkspaceError, watchWorkspaces } from '../../../src/service/index.ts';
import { silentLog } from '../../../src/service/log.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import type { Workspace } from '../../../src/service/workspace/workspace.ts';
import { APP_ID, aWorkspace } from '../../helpers/a-workspace.ts';
import { aToken, ed25519Keys, p256Keys } from '../../helpers/token-keys.ts';

const NOW = Date.parse('2026-03-01T09:00:00Z');
const ed = ed25519Keys();
const ec = p256Keys();
const tokenBy = (keys: typeof ed) =>
  aToken(keys, { sub: 'u', aud: APP_ID, exp: NOW / 1000 + 60 }, { alg: keys.algorithm });

const appWith = (members: Record<string, unknown>) => aWorkspace({ apps: [{ app_id: APP_ID, ...members }] });
const judge = (workspace: Workspace, token: unknown) =>
  workspace.userTokens.get(APP_ID)?.verify(token, 'u', NOW);
const getProblems = (members: Record<string, unknown>) => {
  try {
    parseWorkspace(appWith(members));
    return [];
  } catch (error) {
    return (error as WorkspaceError).issues.map(formatIssue);
  }
};

describe('an app in a workspace file', () => {
  test('may have several keys, as PEM, JWK or JWKS', async () => {
    const workspace = parseWorkspace(
      appWith({
        user_tokens: 'required',
        user_token_keys: [ed.publicPem, { keys: [{ ...ec.publicJwk, kid: 'k' }] }],
      }),
    );
    expect(await judge(workspace, tokenBy(ed))).toBeNull();
    expect(await judge(workspace, tokenBy(ec))).toBeNull();
    expect(await judge(workspace, undefined)).toBe('missing');
  });

  test('may have keys before it requires tokens', () => {
    for (const user_tokens of [undefined, null, 'off']) {
      const workspace = parseWorkspace(appWith({ user_tokens, user_token_keys: [ed.publicPem] }));
      expect(workspace.userTokens.size).toBe(0);
    }
  });

  test.each([
    [
      { user_tokens: 'always' },
      'apps[0].user_tokens: expected "off" or "optional" or "required", got "always"',
    ],
    [
      { user_tokens: 'required' },
      "apps[0].user_tokens: expected a key in 'user_token_keys' or 'user_token_keys_file'",
    ],
    [
      { user_tokens: 'optional', user_token_keys: [] },
      "apps[0].user_tokens: expected a key in 'user_token_keys' or 'user_token_keys_file'",
    ],
    [
      { user_token_keys: [ed.publicPem, ed.privatePem] },
      'apps[0].user_token_keys[1]: expected a public key, got a private one: make a new pair, this one is no longer secret',
    ],
    [
      { user_token_keys: ['topsecret'] },
      'apps[0].user_token_keys[0]: expected a public key as PEM, JWK or JWKS, got one that cannot be read',
    ],
    [{ user_token_keys: 'topsecret' }, 'apps[0].user_token_keys: expected array, got something else'],
    [
      { user_token_keys_file: 'keys.json' },
      'apps[0].user_token_keys_file: expected a readable file next to the workspace file',
    ],
  ])('is rejected with the path of the problem, without quoting a key: %j', (members, problem) => {
    expect(getProblems(members)).toEqual([problem]);
  });
});

test('warns about an app that accepts users whom another app rejects', () => {
  const strict = { app_id: 'web', user_tokens: 'required', user_token_keys: [ed.publicPem] };
  const getWarnings = (...apps: Record<string, unknown>[]) =>
    parseWorkspace(aWorkspace({ apps })).warnings.map(formatIssue);
  expect(getWarnings(strict, { ...strict, app_id: 'shop' })).toEqual([]);
  expect(getWarnings({ app_id: 'ios' }, { ...strict, user_tokens: 'optional' })).toEqual([]);
  expect(
    getWarnings(strict, { app_id: 'ios' }, { ...strict, app_id: 'tv', user_tokens: 'optional' }),
  ).toEqual([
    'apps[1].user_tokens: ios accepts requests without a token, so the users of web are not protected: write "required"',
    'apps[2].user_tokens: tv accepts requests without a token, so the users of web are not protected: write "required"',
  ]);
});

describe('a key file beside the workspace file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'placard-keys-'));
    mkdirSync(join(folder, 'keys'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const file = () => join(folder, 'workspace.json');
  const writeWorkspace = () =>
    writeFileSync(
      file(),
      JSON.stringify(appWith({ user_tokens: 'required', user_token_keys_file: 'keys/web.json' })),
    );
  const writeKeys = (...keys: (typeof ed)[]) =>
    writeFileSync(
      join(folder, 'keys', 'web.json'),
      JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) }),
    );

  test('is read relative to the workspace file', async () => {
    writeWorkspace();
    writeKeys(ed);
    const [workspace] = loadWorkspaces(file()).workspaces;
    expect(await judge(workspace!, tokenBy(ed))).toBeNull();
    expect(await judge(workspace!, tokenBy(ec))).toBe('unknown_key');
  });

  test('is reported by name if it is missing or invalid', () => {
    writeWorkspace();
    expect(() => loadWorkspaces(file())).toThrow('apps[0].user_token_keys_file: expected a readable file');
    writeFileSync(join(folder, 'keys', 'web.json'), '{}');
    expect(() => loadWorkspaces(file())).toThrow(WorkspaceError);
  });

  test('is reloaded when it changes, and keeps the previous keys if it is invalid', async () => {
    writeWorkspace();
    writeKeys(ed);
    const seen: (Error | null)[] = [];
    let wake: (() => void) | undefined;
    const source = watchWorkspaces(file(), {
      log: silentLog,
      pollMs: 20,
      onReload: (problem) => {
        seen.push(problem);
        wake?.();
      },
    });
    const next = async () => {
      while (seen.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return seen.shift();
    };
    const current = () => source.registry().workspaces[0]!;
    try {
      expect(await judge(current(), tokenBy(ec))).toBe('unknown_key');
      writeKeys(ed, ec);
      while ((await next()) !== null);
      expect(await judge(current(), tokenBy(ec))).toBeNull();
      expect(await judge(current(), tokenBy(ed))).toBeNull();

      writeFileSync(join(folder, 'keys', 'web.json'), 'nothing that is a key');
      while ((await next()) === null);
      expect(await judge(current(), tokenBy(ec))).toBeNull();

      // Verifications with a removed key are not cached.
      writeKeys(ec);
      while ((await next()) !== null);
      expect(await judge(current(), tokenBy(ed))).toBe('unknown_key');
    } finally {
      source.stop();
    }
  });
});
