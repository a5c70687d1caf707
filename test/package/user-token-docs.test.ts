// Runs the examples of docs/guides/user-tokens.md in other languages, if the language is installed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readPublicKeys } from '../../src/service/user-tokens/public-keys.ts';
import { createUserTokens } from '../../src/service/user-tokens/user-tokens.ts';
import { examplesIn } from '../helpers/document-examples.ts';
import { needs } from '../helpers/machine.ts';
import { ed25519Keys } from '../helpers/token-keys.ts';

const keys = ed25519Keys();
const folder = mkdtempSync(join(tmpdir(), 'placard-token-docs-'));
writeFileSync(join(folder, 'key.pem'), keys.privatePem);
afterAll(() => rmSync(folder, { recursive: true }));

const GO_IMPORTS = [
  'crypto/ed25519',
  'crypto/x509',
  'encoding/base64',
  'encoding/json',
  'encoding/pem',
  'time',
];

interface Language {
  name: string;
  /** Command that installs the language. */
  bring: string;
  /** Exits with 0 if the example can run. */
  probe: string[];
  command: string[];
  program(example: string): string;
}
const languages: Language[] = [
  {
    name: 'python',
    bring: 'apt-get install python3-jwt python3-cryptography',
    probe: ['/usr/bin/python3', '-c', 'import jwt, cryptography'],
    command: ['/usr/bin/python3', 'user_token.py'],
    program: (example) => `${example}\nprint(token_for("u-771", "web-shop", open("key.pem").read()))`,
  },
  {
    name: 'go',
    bring: 'apt-get install golang-go',
    probe: ['go', 'version'],
    command: ['go', 'run', 'user_token.go'],
    program: (example) => `package main

import (
${[...GO_IMPORTS, 'fmt', 'os'].map((name) => `\t"${name}"`).join('\n')}
)

${example}

func main() {
	key, _ := os.ReadFile("key.pem")
	token, err := tokenFor("u-771", "web-shop", key)
	if err != nil {
		panic(err)
	}
	fmt.Println(token)
}
`,
  },
  {
    name: 'php',
    bring: 'apt-get install php-cli',
    probe: ['php', '-r', 'exit(extension_loaded("sodium") ? 0 : 1);'],
    command: ['php', 'user_token.php'],
    program: (example) =>
      `<?php\n${example}\necho tokenFor("u-771", "web-shop", file_get_contents("key.pem"));\n`,
  },
];

const run = ([command = '', ...args]: string[]) =>
  spawnSync(command, args, { cwd: folder, encoding: 'utf8' });

describe.each(languages)('the example in $name', ({ name, bring, probe, command, program }) => {
  test('signs a token that the service accepts', needs(bring, run(probe).status === 0), async () => {
    const [example] = examplesIn('docs/guides/user-tokens.md').filter(({ language }) => language === name);
    writeFileSync(join(folder, command.at(-1)!), program(example!.code));
    const { stdout, stderr, status } = run(command);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const tokens = createUserTokens({
      workspaceId: 'shop',
      appId: 'web-shop',
      keys: readPublicKeys(keys.publicPem),
      isRequired: true,
      allowsVisitors: false,
    });
    expect(await tokens.verify(stdout.trim(), 'u-771', Date.now())).toBeNull();
  });
});
