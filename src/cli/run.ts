import {
  type ArgsDef,
  type CommandDef,
  defineCommand,
  type ParsedArgs,
  parseArgs,
  runCommand,
  type SubCommandsDef,
} from 'citty';
import { version } from '../version/index.ts';
import { ReportedError } from './exit.ts';
import { formatHelp } from './help.ts';
import { formatError } from './sentence.ts';

/** Commands, loaded on demand because those that only call the API do not need the service. */
const commands: SubCommandsDef = {
  init: async () => (await import('./init.ts')).init,
  serve: async () => (await import('./serve.ts')).serve,
  check: async () => (await import('./check.ts')).check,
  export: async () => (await import('./export.ts')).exportData,
  stream: async () => (await import('./stream.ts')).stream,
  webhooks: async () => (await import('./webhooks.ts')).webhooks,
  campaigns: async () => (await import('./campaigns.ts')).campaigns,
  operator: async () => (await import('./operator.ts')).operator,
  backup: async () => (await import('./backup.ts')).backup,
  prune: async () => (await import('./prune.ts')).prune,
  erase: async () => (await import('./erase.ts')).erase,
  explain: async () => (await import('./explain.ts')).explain,
  integrations: async () => (await import('./integrations.ts')).integrations,
  ingest: async () => (await import('./ingest.ts')).ingest,
  track: async () => (await import('./track/track.ts')).track,
  mcp: async () => (await import('./mcp.ts')).mcp,
};

const main = defineCommand({
  meta: { name: 'placard', description: 'Banner messaging: the service and its tools.' },
  subCommands: commands,
});

const commandNamed = async (name: string | undefined): Promise<CommandDef | undefined> => {
  const found = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  return typeof found === 'function' ? found() : found;
};

/** Throws for unknown options and unexpected arguments, which the parser ignores. */
const refuseUnknown = (given: ParsedArgs, defs: ArgsDef): void => {
  // The parser also adds the value of `--some-name` in camel case.
  const written = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const isKnown = (name: string) => Object.hasOwn(defs, name) || Object.hasOwn(defs, written(name));
  const unknown = Object.keys(given).filter((name) => name !== '_' && !isKnown(name));
  if (unknown.length > 0) {
    const options = Object.keys(defs).map((name) => `--${name}`);
    throw new Error(`unknown option --${unknown[0]}; the options are ${options.join(', ')}`);
  }
  // Rejects extra arguments, because a shell expands `workspaces/*.json` to several and the command would read only the first.
  const expected = Object.values(defs).filter(({ type }) => type === 'positional').length;
  if (given._.length > expected) throw new Error(`"${given._[expected]}" is an unexpected argument`);
};

const isHelp = (word: string) => word === '--help' || word === '-h';

/**
 * Commands that continue if the reader of stdout closes the pipe, so that they do not stop sending midway. They report the closed
 * pipe themselves.
 */
const NEED_NO_READER = new Set(['track']);

const endWithReader = (error: NodeJS.ErrnoException) => {
  // `placard export … | head` closes the pipe, which is not an error.
  if (error.code !== 'EPIPE') process.stderr.write(`placard: ${formatError(error)}\n`);
  process.exit(error.code === 'EPIPE' ? 0 : 1);
};

/** Returns the exit code of an error, such as an interruption. */
const getExitCode = (error: unknown): number => {
  const { exitCode }: { exitCode?: unknown } = Object(error);
  return typeof exitCode === 'number' ? exitCode : 1;
};

/** Runs a command line and returns the exit code. Prints errors to stderr as one sentence. */
export const run = async (words: string[]): Promise<number> => {
  process.stdout.on('error', endWithReader);
  // If stderr has no reader, only the exit code reports the failure.
  process.stderr.on('error', () => undefined);
  const [name] = words;
  const command = await commandNamed(name);
  if (words.includes('--version')) {
    process.stdout.write(`${version()}\n`);
    return 0;
  }
  if (words.length === 0 || words.some(isHelp)) {
    const { isTTY } = process.stdout;
    const help = command
      ? formatHelp(name!, command, main, isTTY)
      : formatHelp('placard', main, undefined, isTTY);
    process.stdout.write(await help);
    return 0;
  }
  try {
    if (!command) throw new Error(`unknown command "${name}"; try ${Object.keys(commands).join(', ')}`);
    if (name !== undefined && NEED_NO_READER.has(name)) process.stdout.off('error', endWithReader);
    const rawArgs = words.slice(1);
    const { args = {} } = command;
    const argDefs: ArgsDef = await (typeof args === 'function' ? args() : args);
    refuseUnknown(parseArgs(rawArgs, argDefs), argDefs);
    await runCommand(command, { rawArgs });
    return 0;
  } catch (error) {
    if (!(error instanceof ReportedError)) process.stderr.write(`placard: ${formatError(error)}\n`);
    return getExitCode(error);
  }
};
