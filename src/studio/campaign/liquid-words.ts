/** A name as it was written, from the form that the service gives it: `user["first_name"]` is `${first_name}`. */
const asWritten = (text: string): string =>
  text.replace(/\b(\w+)\[\\?"([^"\\]*)\\?"\]/g, (_, namespace, name) =>
    namespace === 'user' ? `\${${name}}` : `${namespace}.\${${name}}`,
  );

/** Tags that are only found inside of another one. */
const INNER = /^(?:end|else|elsif|when)/;

const WORDS: readonly [fails: RegExp, words: (...found: string[]) => string][] = [
  [/^output ".*" not closed$/s, () => 'A {{ does not end. Write }} after it, and close its quotation marks.'],
  [/^tag ".*" not closed$/s, () => 'A {% does not end. Write %} after it, and close its quotation marks.'],
  [
    /^tag (\{%-?\s*(\w+)(?:\W.*)?%\}) not closed$/s,
    (tag, name) => `${tag} does not end. Write {% end${name} %} where it should.`,
  ],
  [
    /^tag "(\w+)" not found$/,
    (name = '') =>
      INNER.test(name)
        ? `{% ${name} %} has nothing before it that it could belong to.`
        : `There is no tag “${name}”.`,
  ],
  [/^undefined filter: (.*)$/s, (name) => `There is no filter “${name}”.`],
  [
    /^filter "(\w+)" takes (.*) values?, got (\d+)$/,
    (name, takes, got) =>
      `The filter “${name}” takes ${takes === '0' ? 'no value' : takes} after its name, and has ${got}.`,
  ],
  [/^expected filter name$/, () => 'After a | the name of a filter is missing.'],
  [
    /^expected ":" after filter name$/,
    () => "Between a filter and its value a colon is missing, as in default: 'you'.",
  ],
  [
    /^expected "\|" before filter$/,
    () =>
      'Something after a name is not understood. A filter begins with |, “is equal” is ==, a tag ends with %}.',
  ],
  [/^invalid value expression: ""$/, () => 'A name is missing between the braces.'],
  [/^invalid value expression: "(.*)"$/s, (value) => `“${value}” is neither a name nor a value.`],
  [/^illegal tag syntax/, () => 'Between {% and %} the name of a tag is missing, such as if.'],
  [/^illegal tag: (.*)$/s, (tag) => `${tag} is not complete.`],
];

/** What the template library says of a template that it cannot read, in words for those who wrote it. */
export const liquidWords = (message: string): string => {
  const [, said = message, line] = /^(.*?), line:(\d+), col:\d+$/s.exec(message) ?? [];
  const written = asWritten(said);
  const where = line === undefined || line === '1' ? '' : `In line ${line}: `;
  for (const [fails, words] of WORDS) {
    const found = fails.exec(written);
    if (found) return where + words(...found.slice(1));
  }
  return `${where}This cannot be read as a template: ${written}.`;
};
