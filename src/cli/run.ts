import { type CommandDef, defineCommand, renderUsage, runCommand, type SubCommandsDef } from 'citty';
import { check } from './check.ts';
import { exportData } from './export.ts';
import { integrations } from './integrations.ts';
import { sentenceOf } from './sentence.ts';
import { serve } from './serve.ts';
import { track } from './track.ts';
import { version } from './version.ts';

const commands = { serve, integrations, track, export: exportData, check } satisfies SubCommandsDef;

const main = defineCommand({
  meta: { name: 'placard', description: 'Banner messaging: the service and its tools.' },
  subCommands: commands,
});

const commandNamed = (name: string | undefined): CommandDef | undefined =>
  name !== undefined && Object.hasOwn(commands, name)
    ? (commands[name as keyof typeof commands] as unknown as CommandDef)
    : undefined;

const isHelp = (word: string) => word === '--help' || word === '-h';

/** `placard export … | head` closes the pipe: that is an end, not an error. */
const endWithReader = () => {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.stderr.write(`placard: ${sentenceOf(error)}\n`);
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
};

/** Runs a command line and answers the exit code. What goes wrong is one sentence on stderr. */
export const run = async (words: string[]): Promise<number> => {
  endWithReader();
  const [name] = words;
  const command = commandNamed(name);
  if (name === '--version') {
    process.stdout.write(`${version()}\n`);
    return 0;
  }
  if (words.length === 0 || words.some(isHelp)) {
    const usage = command ? await renderUsage(command, main) : await renderUsage(main);
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  try {
    if (!command) throw new Error(`there is no command "${name}"; try ${Object.keys(commands).join(', ')}`);
    await runCommand(command, { rawArgs: words.slice(1) });
    return 0;
  } catch (error) {
    process.stderr.write(`placard: ${sentenceOf(error)}\n`);
    return 1;
  }
};
