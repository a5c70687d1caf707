import { stripVTControlCharacters } from 'node:util';
import { type CommandDef, defineCommand, renderUsage, runCommand, type SubCommandsDef } from 'citty';
import { InterruptedError } from './interruption.ts';
import { sentenceOf } from './sentence.ts';
import { version } from './version.ts';

/** Loaded when they are asked for: a command that only asks a question need not load the service. */
const commands: SubCommandsDef = {
  serve: async () => (await import('./serve.ts')).serve,
  check: async () => (await import('./check.ts')).check,
  export: async () => (await import('./export.ts')).exportData,
  backup: async () => (await import('./backup.ts')).backup,
  integrations: async () => (await import('./integrations.ts')).integrations,
  track: async () => (await import('./track.ts')).track,
};

const main = defineCommand({
  meta: { name: 'placard', description: 'Banner messaging: the service and its tools.' },
  subCommands: commands,
});

const commandNamed = async (name: string | undefined): Promise<CommandDef | undefined> => {
  const found = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  return typeof found === 'function' ? found() : found;
};

const isHelp = (word: string) => word === '--help' || word === '-h';

/** Commands that go on without a reader: what they send would be cut off, and told to nobody. They say so themselves. */
const NEED_NO_READER = new Set(['track']);

const endWithReader = (error: NodeJS.ErrnoException) => {
  // `placard export … | head` closes the pipe: that is an end, not an error.
  if (error.code !== 'EPIPE') process.stderr.write(`placard: ${sentenceOf(error)}\n`);
  process.exit(error.code === 'EPIPE' ? 0 : 1);
};

/** Runs a command line and answers the exit code. What goes wrong is one sentence on stderr. */
export const run = async (words: string[]): Promise<number> => {
  process.stdout.on('error', endWithReader);
  // Where nobody reads this one either, the exit code is all that is left to tell by.
  process.stderr.on('error', () => undefined);
  const [name] = words;
  const command = await commandNamed(name);
  if (name === '--version') {
    process.stdout.write(`${version()}\n`);
    return 0;
  }
  if (words.length === 0 || words.some(isHelp)) {
    const usage = command ? await renderUsage(command, main) : await renderUsage(main);
    // Colours are for a screen; in a file they are noise.
    const shown = process.stdout.isTTY ? usage : stripVTControlCharacters(usage);
    process.stdout.write(`${shown.replaceAll(/ +$/gm, '')}\n`);
    return 0;
  }
  try {
    if (!command) throw new Error(`there is no command "${name}"; try ${Object.keys(commands).join(', ')}`);
    if (name !== undefined && NEED_NO_READER.has(name)) process.stdout.off('error', endWithReader);
    await runCommand(command, { rawArgs: words.slice(1) });
    return 0;
  } catch (error) {
    process.stderr.write(`placard: ${sentenceOf(error)}\n`);
    return error instanceof InterruptedError ? error.exitCode : 1;
  }
};
