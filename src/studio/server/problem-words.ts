/** A name as it was written, from the form that the service gives it: `user["first_name"]` is `${first_name}`. */
const asWritten = (text: string): string =>
  text.replace(/\b(\w+)\[\\?"([^"\\]*)\\?"\]/g, (_, namespace, name) =>
    namespace === 'user' ? `\${${name}}` : `${namespace}.\${${name}}`,
  );

/** Tags that are only found inside of another one. */
const INNER = /^(?:end|else|elsif|when)/;

const LIQUID_WORDS: readonly [fails: RegExp, words: (...found: string[]) => string][] = [
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
  for (const [fails, words] of LIQUID_WORDS) {
    const found = fails.exec(written);
    if (found) return where + words(...found.slice(1));
  }
  return `${where}This cannot be read as a template: ${written}.`;
};

const thousands = (digits = '') => Number(digits).toLocaleString('en-US');

/** What the service says of a campaign, and the same for those who write one without ever seeing its JSON. */
const WORDS: readonly [problem: RegExp, words: (...found: string[]) => string][] = [
  [/^expected a Liquid template, got one that fails: (.*)$/s, (fault = '') => liquidWords(fault)],
  [/^expected it not to be empty, got "/, () => 'Fill it in: it is empty.'],
  [/^expected an instant after 'starts_at'$/, () => 'The end has to be later than the start.'],
  [/^expected a weight above 0$/, () => 'Give at least one variant a share: all of them have 0 %.'],
  [
    /^expected a placement_id of 'placements', got (".*")$/s,
    (id = '') => `There is no placement ${id}. Choose another one.`,
  ],
  [
    /^expected a segment_id of 'segments', got (.*)$/s,
    (id = '') => `There is no segment ${id}. Choose another one.`,
  ],
  [/^expected it once, got (".*") again$/s, (id = '') => `${id} is there twice. Take one away.`],
  [
    /^expected at most (\d+) characters in all texts .* got (\d+)$/,
    (most, length) =>
      `Texts with {{ or {% hold at most ${thousands(most)} characters in all variants together, and these hold ${thousands(length)}: make them shorter.`,
  ],
  [
    /^expected one of \$all, /,
    () => 'One of its conditions compares in a way that does not exist. Remove it, and choose it again.',
  ],
  [/^expected an array of filters that is not empty$/, () => 'Add a condition: one of its groups is empty.'],
  [/^expected a member's name, got "__proto__"$/, () => 'No attribute can be called “__proto__”.'],
  [
    /^expected a language as BCP 47 writes it, .* got (".*")$/s,
    (tag = '') => `${tag} is no language. Write it such as de or pt-BR.`,
  ],
  [
    /^expected a property of the variant, of the type 'string' or 'image'$/,
    () => 'The message itself has no such text any more. Write it there, or take it out of the translation.',
  ],
  [
    /^expected a value that '(.*)' can have, got (.*)$/s,
    (name, value) => `A click cannot set ${name} to ${value}: give it a value that ${name} can have.`,
  ],
  [/^expected a number$/, () => 'Compare it with a number.'],
  [/^expected a date such as (\S+)$/, (date = '') => `Compare it with a date, such as ${date}.`],
  [
    /^unknown variable (.*?), which prints nothing(?:; did you mean (.*)\?)?$/s,
    (name, meant) => `Nobody has ${name}, so it prints nothing.${meant ? ` Did you mean ${meant}?` : ''}`,
  ],
];

/** What the service says of a member of a campaign, as a sentence for a marketer. */
export const problemWords = (problem: string): string => {
  for (const [says, words] of WORDS) {
    const found = says.exec(problem);
    if (found) return words(...found.slice(1));
  }
  const sentence = problem[0]!.toUpperCase() + problem.slice(1);
  return /[.?]$/.test(sentence) ? sentence : `${sentence}.`;
};
