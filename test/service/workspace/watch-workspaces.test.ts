import { generateKeyPairSync } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createService,
  loadWorkspaces,
  openStore,
  type WatchedSource,
  type WorkspaceSource,
  watchWorkspaces,
} from '../../../src/service/index.ts';
import { aWorkspace } from '../../helpers/a-workspace.ts';
import { recordingLog } from '../../helpers/running-service.ts';

/** Concurrent edits right after a file was read, one entry per read. */
const afterReads = vi.hoisted((): (() => void)[] => []);
const calls = vi.hoisted(() => ({ reads: 0, stats: 0 }));
vi.mock(import('node:fs'), async (original) => {
  const fs = await original();
  const readFileSync = (...given: Parameters<typeof fs.readFileSync>) => {
    const content = fs.readFileSync(...given);
    calls.reads += 1;
    afterReads.shift()?.();
    return content;
  };
  const statSync = (...given: Parameters<typeof fs.statSync>) => {
    calls.stats += 1;
    return fs.statSync(...given);
  };
  return {
    ...fs,
    readFileSync: readFileSync as typeof fs.readFileSync,
    statSync: statSync as typeof fs.statSync,
  };
});

let folder: string;
let source: WorkspaceSource | undefined;
let lines: Record<string, unknown>[];
let reloads: (Error | null)[];
let wake: () => void;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'placard-workspaces-'));
  lines = [];
  reloads = [];
  wake = () => undefined;
});
afterEach(() => {
  source?.stop();
  vi.useRealTimers();
  afterReads.length = 0;
  source = undefined;
  rmSync(folder, { recursive: true });
});

const write = (name: string, members: Record<string, unknown>) =>
  writeFileSync(join(folder, name), JSON.stringify(aWorkspace(members)));

const watching = (path: string, pollMs = 20) => {
  source = watchWorkspaces(path, {
    log: recordingLog(lines),
    pollMs,
    onReload: (problem) => {
      reloads.push(problem);
      wake();
    },
  });
  return source;
};

/** Resolves with the error of the next reload, or `null` if none. */
const reloaded = async () => {
  while (reloads.length === 0) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  return reloads.shift() as Error | null;
};
const names = () => source!.registry().workspaces.map(({ name }) => name);
const another = (members: Record<string, unknown>) => ({
  workspace_id: 'other',
  api_keys: [{ type: 'server', key: 'other-key', permissions: [] }],
  ...members,
});

describe('an unchanged workspace file', () => {
  test('is checked and not read again until it or one of its key files is written', async () => {
    const file = join(folder, 'one.json');
    const keys = join(folder, 'keys.pem');
    const app = { app_id: 'web', user_token_keys_file: 'keys.pem' };
    const publicKey = () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
    const longAgo = new Date('2026-01-01T00:00:00Z');
    const put = (path: string, text: string | Buffer) => {
      writeFileSync(path, text);
      utimesSync(path, longAgo, longAgo);
    };
    put(keys, publicKey());
    put(file, JSON.stringify(aWorkspace({ apps: [app] })));
    watching(file);
    const looked = async () => {
      calls.stats = 0;
      await expect.poll(() => calls.stats).toBeGreaterThan(20);
    };
    await looked();
    calls.reads = 0;
    await looked();
    expect(calls.reads).toBe(0);
    put(keys, publicKey());
    expect(await reloaded()).toBeNull();
    await looked();
    expect(calls.reads).toBe(2);
  });
});

describe('a changed workspace file', () => {
  test('is used from the next request on', async () => {
    write('one.json', { name: 'before' });
    watching(join(folder, 'one.json'));
    const registry = source!.registry();
    write('one.json', { name: 'after' });
    expect(await reloaded()).toBeNull();
    expect(names()).toEqual(['after']);
    expect(registry.workspaces[0]?.name).toBe('before');
  });

  test('is detected by file system events alone', async () => {
    write('one.json', { name: 'before' });
    watching(join(folder, 'one.json'), 60_000);
    write('one.json', { name: 'after' });
    expect(await reloaded()).toBeNull();
    expect(names()).toEqual(['after']);
  });

  test('may be replaced by another file repeatedly', async () => {
    write('one.json', { name: 'first' });
    watching(join(folder, 'one.json'));
    for (const name of ['second', 'third', 'fourth']) {
      write('one.json.tmp', { name });
      renameSync(join(folder, 'one.json.tmp'), join(folder, 'one.json'));
      expect(await reloaded()).toBeNull();
      expect(names()).toEqual([name]);
    }
  });

  test('is used if it is written again right after it was read', async () => {
    write('one.json', { name: 'before' });
    watching(join(folder, 'one.json'), 60_000);
    afterReads.push(
      () => writeFileSync(join(folder, 'one.json'), '{'),
      () => write('one.json', { name: 'after' }),
    );
    write('one.json', { name: 'after' });
    expect(await reloaded()).toBeNull();
    expect(names()).toEqual(['after']);
  });

  test('may be missing temporarily', async () => {
    write('one.json', { name: 'before' });
    watching(join(folder, 'one.json'), 5);
    unlinkSync(join(folder, 'one.json'));
    while (!lines.some(({ message }) => message === 'workspace not readable')) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(names()).toEqual(['before']);
    write('one.json', { name: 'after' });
    expect(await reloaded()).toBeNull();
    expect(names()).toEqual(['after']);
  });

  test.each([
    ['broken JSON', '{"workspace_id": "test", "api_keys": [{"key": "hush-hush"'],
    ['an unknown member', JSON.stringify(aWorkspace({ colour: 'red' }))],
    ['nothing', ''],
  ])(
    'keeps the previous content if changed to %s, and logs the problem without quoting a key',
    async (_, text) => {
      write('one.json', { name: 'before' });
      watching(join(folder, 'one.json'));
      writeFileSync(join(folder, 'one.json'), text);
      expect(await reloaded()).toBeInstanceOf(Error);
      expect(names()).toEqual(['before']);
      const line = lines.find(({ level }) => level === 'error');
      expect(line).toMatchObject({ message: 'workspace not reloaded: previous one stays in use' });
      expect(JSON.stringify(lines)).not.toContain('hush');
      write('one.json', { name: 'mended' });
      expect(await reloaded()).toBeNull();
      expect(names()).toEqual(['mended']);
    },
  );

  test('is not logged if only its modification time changed', async () => {
    write('one.json', { name: 'same' });
    watching(join(folder, 'one.json'), 5);
    write('one.json', { name: 'same' });
    write('one.json', { name: 'other' });
    expect(await reloaded()).toBeNull();
    expect(names()).toEqual(['other']);
    expect(reloads).toEqual([]);
  });
});

describe('a workspace whose ID changes', () => {
  test('causes a warning, because its users are stored under the ID', async () => {
    write('one.json', { workspace_id: 'before' });
    watching(join(folder, 'one.json'));
    write('one.json', { workspace_id: 'after' });
    expect(await reloaded()).toBeNull();
    expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', gone: ['before'] }));
  });
});

describe('a folder of workspace files', () => {
  test('reports the problems of all files', () => {
    write('one.json', { apps: 5 });
    writeFileSync(join(folder, 'two.json'), '{');
    write('three.json', {});
    expect(() => loadWorkspaces(folder)).toThrow(
      `${folder}: one.json: apps: expected array, got 5; two.json: the file: expected JSON, got something that cannot be parsed (line 1 column 2)`,
    );
  });

  test('consists of its .json files in name order', () => {
    write('b.json', { workspace_id: 'b', name: 'b' });
    write('a.json', another({ name: 'a' }));
    writeFileSync(join(folder, 'README.md'), 'not a workspace');
    writeFileSync(join(folder, '.a.json'), 'an editor’s own');
    mkdirSync(join(folder, 'more.json'));
    expect(loadWorkspaces(folder).workspaces.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  test('adds new files and removes deleted ones', async () => {
    write('one.json', { name: 'one' });
    watching(folder);
    write('two.json', another({ name: 'two' }));
    expect(await reloaded()).toBeNull();
    expect(names()).toEqual(['one', 'two']);
    unlinkSync(join(folder, 'one.json'));
    expect(await reloaded()).toBeNull();
    expect(names()).toEqual(['two']);
  });

  test('keeps a workspace whose file is missing for a moment', async () => {
    write('one.json', { name: 'one' });
    write('two.json', another({ name: 'two' }));
    const watched = watching(folder, 100_000);
    const checksBefore = calls.reads;
    unlinkSync(join(folder, 'one.json'));
    while (calls.reads === checksBefore) await new Promise((resolve) => setImmediate(resolve));
    expect(names()).toEqual(['one', 'two']);
    write('one.json', { name: 'one, replaced' });
    expect(await reloaded()).toBeNull();
    expect(names()).toEqual(['one, replaced', 'two']);
    unlinkSync(join(folder, 'one.json'));
    (watched as WatchedSource).reload();
    expect(names()).toEqual(['two']);
  });

  test('keeps each workspace while files are replaced in turn', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    write('one.json', { name: 'one' });
    write('two.json', another({ name: 'two' }));
    const pollMs = 100_000;
    watching(folder, pollMs);
    const isChecked = async (change: () => void) => {
      const checksBefore = calls.reads;
      change();
      while (calls.reads === checksBefore) await new Promise((resolve) => setImmediate(resolve));
    };
    await isChecked(() => unlinkSync(join(folder, 'one.json')));
    vi.setSystemTime(Date.now() + 2 * pollMs);
    await isChecked(() => {
      write('one.json', { name: 'one, replaced' });
      unlinkSync(join(folder, 'two.json'));
    });
    expect(names()).toEqual(['one', 'two']);
    write('two.json', another({ name: 'two, replaced' }));
    expect(await reloaded()).toBeNull();
    expect(names()).toEqual(['one, replaced', 'two, replaced']);
  });

  test('keeps all previous workspaces if one file is invalid, and shows it in the metrics until it is corrected', async () => {
    write('one.json', { name: 'one' });
    const service = createService({ workspaces: watching(folder), store: await openStore(':memory:') });
    const getMetric = async () => {
      const metrics = await service.fetch(new Request('http://127.0.0.1/metrics'));
      return /^placard_workspace_last_reload_successful (.)$/m.exec(await metrics.text())?.[1];
    };
    expect(await getMetric()).toBe('1');
    writeFileSync(join(folder, 'two.json'), '{');
    expect((await reloaded())?.message).toContain('two.json');
    expect(names()).toEqual(['one']);
    expect(await getMetric()).toBe('0');
    write('two.json', another({ name: 'two' }));
    expect(await reloaded()).toBeNull();
    expect(await getMetric()).toBe('1');
    await service.close();
  });

  test('reports each unreadable file once', async () => {
    const told = () => lines.filter(({ message }) => message === 'workspace not readable');
    const link = (name: string) => {
      symlinkSync(join(folder, 'nowhere'), join(folder, name));
      return join(folder, name);
    };
    write('one.json', { name: 'one' });
    watching(folder, 5);
    const later = link('b.json');
    while (told().length < 1) await new Promise((resolve) => setImmediate(resolve));
    const sooner = link('a.json');
    while (told().length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(told()).toEqual([
      expect.objectContaining({ path: later, code: 'ENOENT' }),
      expect.objectContaining({ path: sooner, code: 'ENOENT' }),
    ]);
    expect(() => loadWorkspaces(folder)).toThrow(sooner);
  });

  test('is rejected if it repeats a workspace or a key', () => {
    write('one.json', {});
    write('two.json', { workspace_id: 'other' });
    expect(() => loadWorkspaces(folder)).toThrow(
      /two\.json: api_keys\[0\]: expected a unique key, got the one of workspace "test"$/,
    );
    write('two.json', another({ workspace_id: 'test' }));
    expect(() => loadWorkspaces(folder)).toThrow(/two\.json: workspace_id: expected a unique ID/);
  });

  test('is rejected if it is empty or missing', () => {
    expect(() => loadWorkspaces(folder)).toThrow('expected a folder with at least one .json file');
    expect(() => loadWorkspaces(join(folder, 'nowhere'))).toThrow('ENOENT');
  });
});
