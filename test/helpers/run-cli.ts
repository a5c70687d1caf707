import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

export interface CliRun {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

const CLI = resolve('src/cli/placard.ts');

/** The command line from its source, on the Node that runs the tests. */
export const startCli = (words: string[], env: Record<string, string> = {}, cwd = '.'): ChildProcess =>
  spawn(process.execPath, [CLI, ...words], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
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

export const runCli = (words: string[], env?: Record<string, string>): Promise<CliRun> =>
  ended(startCli(words, env));

/** Starts `placard serve` and resolves once it listens; `lines` grows with its log. */
export const serveCli = async (
  words: string[],
  env?: Record<string, string>,
): Promise<{ child: ChildProcess; url: string; lines: Record<string, unknown>[]; exit: Promise<CliRun> }> => {
  const child = startCli(['serve', ...words], env);
  const exit = ended(child);
  const lines: Record<string, unknown>[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const facts = JSON.parse(line) as Record<string, unknown>;
      lines.push(facts);
      if (facts['msg'] === 'listening') resolve(String(facts['url']));
    });
    void exit.then(({ stderr }) => reject(new Error(`serve ended: ${stderr}`)));
  });
  return { child, url, lines, exit };
};
