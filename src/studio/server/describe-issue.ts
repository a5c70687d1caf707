import type { CampaignIssueCode, Issue, IssueFacts } from '../../service/index.ts';

/** Converts names from the service's form back to Liquid as typed: `user["first_name"]` to `${first_name}`. */
const asWritten = (text: string): string =>
  text.replace(/\b(\w+)\[\\?"([^"\\]*)\\?"\]/g, (_, namespace, name) =>
    namespace === 'user' ? `\${${name}}` : `${namespace}.\${${name}}`,
  );

/** Tags that are only valid inside another tag. */
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

/** Returns a Liquid parser error as a sentence for marketers. */
export const describeLiquidError = (message: string): string => {
  const [, said = message, line] = /^(.*?), line:(\d+), col:\d+$/s.exec(message) ?? [];
  const written = asWritten(said);
  const where = line === undefined || line === '1' ? '' : `In line ${line}: `;
  for (const [fails, words] of LIQUID_WORDS) {
    const found = fails.exec(written);
    if (found) return where + words(...found.slice(1));
  }
  return `${where}This cannot be read as a template: ${written}.`;
};

const thousands = (count: number) => count.toLocaleString('en-US');

/** Sentences for campaign issues, for users who never see the JSON. */
const WORDS: { [Code in CampaignIssueCode]: (facts: IssueFacts<Code>) => string } = {
  invalid_template: ({ reason }) => describeLiquidError(reason),
  empty: () => 'Fill it in: it is empty.',
  ends_before_start: () => 'The end has to be later than the start.',
  no_weight: () => 'Give at least one variant a share: all of them have 0 %.',
  unknown_placement: ({ id }) => `There is no placement ${JSON.stringify(id)}. Choose another one.`,
  unknown_segment: ({ id }) => `There is no segment ${JSON.stringify(id)}. Choose another one.`,
  repeated: ({ value }) => `${JSON.stringify(value)} is there twice. Take one away.`,
  templates_too_long: ({ max, length }) =>
    `Texts with {{ or {% hold at most ${thousands(max)} characters in all variants together, and these hold ${thousands(length)}: make them shorter.`,
  unknown_operator: () =>
    'One of its conditions compares in a way that does not exist. Remove it, and choose it again.',
  empty_group: () => 'Add a condition: one of its groups is empty.',
  reserved_name: () => 'No attribute can be called “__proto__”.',
  invalid_language: ({ got }) => `${got} is no language. Write it such as de or pt-BR.`,
  not_a_text_property: () =>
    'The message itself has no such text any more. Write it there, or take it out of the translation.',
  invalid_attribute_value: ({ name, got }) =>
    `A click cannot set ${name} to ${got}: give it a value that ${name} can have.`,
  number_expected: () => 'Compare it with a number.',
  date_expected: ({ example }) => `Compare it with a date, such as ${example}.`,
  unknown_variable: ({ variable, suggestion }) =>
    `Nobody has ${variable}, so it prints nothing.${suggestion === null ? '' : ` Did you mean ${suggestion}?`}`,
};

/** Returns a campaign issue as a sentence for marketers. */
export const describeIssue = ({ code, facts, message }: Issue): string => {
  if (Object.hasOwn(WORDS, code)) {
    const words: (facts: never) => string = WORDS[code as CampaignIssueCode];
    return words(facts as never);
  }
  const sentence = message[0]!.toUpperCase() + message.slice(1);
  return /[.?]$/.test(sentence) ? sentence : `${sentence}.`;
};
