import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { listenStudio } from '../../src/studio/index.ts';
import { getProgram } from './built-programs.ts';
import { ended, inherited, startCli } from './run-cli.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from './running-studio.ts';

export interface ToolAnswer {
  isError: boolean;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each tool has members of its own
  value: any;
}

type Mode = 'legacy' | { pin: string };
const MODERN: Mode = { pin: '2026-07-28' };

/** A Studio on a port, and the official MCP client connected to a `placard mcp` child process. */
export const runMcpStudio = async (content: Record<string, unknown> = aStudioWorkspace()) => {
  const studio: RunningStudio = await runStudio(content);
  const listening = await listenStudio(studio.studio, { port: 0 });
  const closers: (() => Promise<unknown>)[] = [];

  const connect = async (operator: string, mode: Mode) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [await getProgram('placard'), 'mcp', '--studio-url', listening.url],
      env: { ...inherited(), PLACARD_OPERATOR_KEY: `${operator}-key` },
      stderr: 'ignore',
    });
    const protocolErrors: Error[] = [];
    client.onerror = (error) => protocolErrors.push(error);
    closers.push(() => client.close());
    await client.connect(transport);
    return {
      client,
      protocolErrors,
      async call(name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
        const {
          isError = false,
          content,
          structuredContent,
        } = await client.callTool({ name, arguments: args });
        const [block] = content as { type: string; text: string }[];
        return { isError, text: block!.text, value: structuredContent };
      },
    };
  };

  const connections = new Map<string, ReturnType<typeof connect>>();

  /** Starts a process whose lines on stdin and stdout are sent and read as they are. */
  const raw = async (operator: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'placard-mcp-'));
    closers.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'agent.key'), `${operator}-key\n`);
    const child = await startCli(['mcp'], {
      PLACARD_STUDIO_URL: listening.url,
      PLACARD_OPERATOR_KEY_FILE: join(folder, 'agent.key'),
    });
    const read = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    return {
      child,
      lines: { next: async () => JSON.parse(String((await read.next()).value)) },
      ended: ended(child),
    };
  };

  return {
    studio,
    url: listening.url,
    /** One process per operator and protocol revision, because the Studio limits sign-ins. */
    connect(operator: string, mode: Mode = MODERN): ReturnType<typeof connect> {
      const name = `${operator} ${JSON.stringify(mode)}`;
      const connection = connections.get(name) ?? connect(operator, mode);
      connections.set(name, connection);
      return connection;
    },
    raw,
    async stop() {
      for (const close of closers) await close();
      await listening.stop();
      await studio.stop();
    },
  };
};
