import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { getProgram } from './built-programs.ts';

export interface CliRun {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Variables that a command inherits. Without the cache, half of its start is compiling. */
export const inherited = (): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** Starts the built command, on the Node that runs the tests. */
export const startCli = async (
  words: string[],
  env: Record<string, string> = {},
  cwd = '.',
): Promise<ChildProcess> =>
  spawn(process.execPath, [await getProgram('placard'), ...words], {
    cwd,
    env: { ...inherited(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });

export const ended = async (child: ChildProcess): Promise<CliRun> => {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
};

/** Runs a command in a child process, for signals, stdin and closed pipes. */
export const spawnCli = async (words: string[], env?: Record<string, string>): Promise<CliRun> =>
  ended(await startCli(words, env));

const runHere = async (words: string[], env: Record<string, string>, folder: string): Promise<CliRun> => {
  const { run } = await import('../../src/cli/run.ts');
  const { stdout, stderr } = process;
  const written = { stdout: '', stderr: '' };
  const before = {
    env: process.env,
    folder: process.cwd(),
    stdout: stdout.write,
    stderr: stderr.write,
    listeners: { stdout: stdout.listeners('error'), stderr: stderr.listeners('error') },
  };
  const collect =
    (name: 'stdout' | 'stderr'): typeof stdout.write =>
    (text: Uint8Array | string, encoding?: unknown, callback?: unknown) => {
      written[name] += String(text);
      const done = typeof encoding === 'function' ? encoding : callback;
      if (typeof done === 'function') queueMicrotask(() => done());
      return true;
    };
  process.env = { PATH: before.env['PATH'] ?? '', ...env };
  process.chdir(folder);
  stdout.write = collect('stdout');
  stderr.write = collect('stderr');
  try {
    const code = await run(words);
    return { code, signal: null, ...written };
  } finally {
    stdout.write = before.stdout;
    stderr.write = before.stderr;
    for (const name of ['stdout', 'stderr'] as const)
      for (const listener of process[name].listeners('error'))
        if (!before.listeners[name].includes(listener)) process[name].off('error', listener as () => void);
    process.env = before.env;
    process.chdir(before.folder);
  }
};

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in the test's process, a hundred times faster than a child process. One at a time, because they share
 * stdout, the environment and the working directory.
 */
export const runCli = (words: string[], env: Record<string, string> = {}, folder = '.'): Promise<CliRun> => {
  const result = last.then(() => runHere(words, env, folder));
  last = result.catch(() => undefined);
  return result;
};

/** Starts `placard serve` without a drain delay and resolves when it listens; `lines` collects its log. */
export const serveCli = async (
  words: string[],
  env?: Record<string, string>,
): Promise<{ child: ChildProcess; url: string; lines: Record<string, unknown>[]; exit: Promise<CliRun> }> => {
  const child = await startCli(['serve', ...words], { PLACARD_DRAIN_SECONDS: '0', ...env });
  const exit = ended(child);
  const lines: Record<string, unknown>[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const facts = JSON.parse(line) as Record<string, unknown>;
      lines.push(facts);
      if (facts['msg'] === 'listening') resolve(String(facts['url']));
    });
    void exit.then(({ stdout, stderr }) => reject(new Error(`serve ended: ${stdout}${stderr}`)));
  });
  return { child, url, lines, exit };
};
