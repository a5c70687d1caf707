import { expect } from 'vitest';

/** Splits a shell command into words: quotes and line continuations, no expansion. */
const getWords = (command: string, variables: Record<string, string>): string[] =>
  [...command.replaceAll('\\\n', ' ').matchAll(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g)].map(([word]) =>
    word.replaceAll(
      /'([^']*)'|"([^"]*)"|\\(.)/g,
      (_, single, double, sign) =>
        single ??
        sign ??
        double.replaceAll(/\$(\w+)/g, (_all: string, name: string) => variables[name] ?? ''),
    ),
  );

/** Runs a curl command with `fetch`. Throws on an option that our documents do not use. */
export const curl = (command: string, variables: Record<string, string> = {}): Promise<Response> => {
  const [name, ...words] = getWords(command, variables);
  expect(name).toBe('curl');
  const headers: [string, string][] = [];
  let url = '';
  let body: string | undefined;
  let method: string | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === '-H') {
      const [header = '', value = ''] = words[++at]!.split(': ');
      headers.push([header, value]);
    } else if (word === '-d') body = words[++at]!;
    else if (word === '-X') method = words[++at]!;
    else if (word !== '-s') {
      expect(word).toMatch(/^http:/);
      url = word;
    }
  }
  return fetch(url, {
    headers,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    ...(body !== undefined && { body }),
  });
};
