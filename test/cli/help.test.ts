import { describe, expect, test } from 'vitest';
import { EXAMPLES } from '../../src/cli/help.ts';
import { runCli } from '../helpers/run-cli.ts';

const getHelp = async (...words: string[]) => {
  const { code, stdout } = await runCli([...words, '--help'], { FORCE_COLOR: '1' });
  expect(code).toBe(0);
  return stdout;
};
/** Each help text needs its own process, so it is read once. */
const top = getHelp();
const commands = top.then((help) => /^USAGE placard (.*)$/m.exec(help)![1]!.split('|'));

describe('placard --help', () => {
  test('lists the commands, the first steps, and the exit codes', async () => {
    expect(await commands).toEqual(expect.arrayContaining(['init', 'serve', 'check', 'track', 'export']));
    expect(await top).toContain('EXAMPLES\n\n  placard init\n  placard serve\n');
    expect(await top).toMatch(/EXIT CODES\n\n {2}0 +done\n {2}1 +not done/);
  });

  test('has examples for each command, with existing options', async () => {
    for (const name of await commands) {
      const help = await getHelp(name);
      const examples = EXAMPLES[name] ?? [];
      expect(examples.length, name).toBeGreaterThan(0);
      for (const example of examples) {
        expect(help).toContain(`  ${example}\n`);
        expect(example).toMatch(new RegExp(`(^| )placard ${name}( |$)`));
        for (const [option] of example.matchAll(/--[\w-]+/g))
          expect(help).toMatch(new RegExp(`^ +${option}\\b`, 'm'));
      }
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is the one that begins a colour.
      expect(help).not.toMatch(/\u001b| $/m);
    }
  });

  test('lists the exit code of track for rejected objects', async () => {
    expect(await getHelp('track')).toMatch(/^ {2}2 +sent to the end, but some objects were rejected/m);
    expect(await getHelp('check')).not.toMatch(/^ {2}2 /m);
  });
});
