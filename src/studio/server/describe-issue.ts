import type { CampaignIssueCode, Issue, IssueFacts } from '../../service/index.ts';
import { capitalize } from '../campaign/capitalize.ts';

/** Converts internal names to the operator's Liquid, such as `user["first_name"]` to `${first_name}`. */
const asWritten = (text: string): string =>
  text.replace(/\b(\w+)\[\\?"([^"\\]*)\\?"\]/g, (_, namespace, name) =>
    namespace === 'user' ? `\${${name}}` : `${namespace}.\${${name}}`,
  );

/** Tags that are valid only inside another tag. */
const INNER = /^(?:end|else|elsif|when)/;

const LIQUID_MESSAGES: readonly [fails: RegExp, toMessage: (...found: string[]) => string][] = [
  [/^output ".*" not closed$/s, () => 'Unclosed {{. Add }} and close quotation marks.'],
  [/^tag ".*" not closed$/s, () => 'Unclosed {%. Add %} and close quotation marks.'],
  [/^tag (\{%-?\s*(\w+)(?:\W.*)?%\}) not closed$/s, (tag, name) => `Unclosed ${tag}. Add {% end${name} %}.`],
  [
    /^tag "(\w+)" not found$/,
    (name = '') => (INNER.test(name) ? `{% ${name} %} has no opening tag.` : `Unknown tag “${name}”.`),
  ],
  [/^undefined filter: (.*)$/s, (name) => `Unknown filter “${name}”.`],
  [
    /^filter "(\w+)" takes (.*) values?, got (\d+)$/,
    (name, takes, got) =>
      `The filter “${name}” takes ${takes === '0' ? 'no value' : takes} after its name, and has ${got}.`,
  ],
  [/^expected filter name$/, () => 'Expected a filter name after |.'],
  [/^expected ":" after filter name$/, () => "Expected a colon after the filter name, as in default: 'you'."],
  [
    /^expected "\|" before filter$/,
    () =>
      'Something after a name is not understood. A filter begins with |, “is equal” is ==, a tag ends with %}.',
  ],
  [/^invalid value expression: ""$/, () => 'Expected a name between the braces.'],
  [/^invalid value expression: "(.*)"$/s, (value) => `“${value}” is neither a name nor a value.`],
  [/^illegal tag syntax/, () => 'Expected a tag name after {%, such as if.'],
  [/^illegal tag: (.*)$/s, (tag) => `${tag} is incomplete.`],
];

/** Returns a Liquid parser error as a sentence for marketers. */
export const describeLiquidError = (message: string): string => {
  const [, said = message, line] = /^(.*?), line:(\d+), col:\d+$/s.exec(message) ?? [];
  const written = asWritten(said);
  const where = line === undefined || line === '1' ? '' : `Line ${line}: `;
  for (const [fails, toMessage] of LIQUID_MESSAGES) {
    const found = fails.exec(written);
    if (found) return where + toMessage(...found.slice(1));
  }
  return `${where}Invalid template: ${written}.`;
};

const thousands = (count: number) => count.toLocaleString('en-US');

/** Sentences of campaign issues, for operators who do not see the JSON. */
const WORDS: { [Code in CampaignIssueCode]: (facts: IssueFacts<Code>) => string } = {
  invalid_template: ({ reason }) => describeLiquidError(reason),
  empty: () => 'Enter a value.',
  ends_before_start: () => 'The end must be later than the start.',
  no_weight: () => 'All shares are 0%. Set one above 0%.',
  unknown_placement: ({ id }) => `Unknown placement ${JSON.stringify(id)}. Choose another one.`,
  unknown_segment: ({ id }) => `Unknown segment ${JSON.stringify(id)}. Choose another one.`,
  repeated: ({ value }) => `${JSON.stringify(value)} is repeated. Remove one.`,
  templates_too_long: ({ max, length }) =>
    `Texts with {{ or {% have ${thousands(length)} characters in all variants; the limit is ${thousands(max)}. Shorten them.`,
  unknown_operator: () => 'Unknown operator in a condition. Remove the condition and add it again.',
  empty_group: () => 'A group is empty. Add a condition.',
  reserved_name: () => 'Reserved attribute name: “__proto__”.',
  invalid_language: ({ got }) => `Unknown language ${got}. Use a tag such as de or pt-BR.`,
  not_a_text_property: () => 'The message has no such text. Add it, or remove it from the translation.',
  invalid_attribute_value: ({ name, got }) => `Invalid value ${got} for ${name}. Enter a value of its type.`,
  number_expected: () => 'Compare it with a number.',
  date_expected: ({ example }) => `Compare it with a date, such as ${example}.`,
  unknown_variable: ({ variable, suggestion }) =>
    `Unknown variable ${variable}: it prints nothing.${suggestion === null ? '' : ` Did you mean ${suggestion}?`}`,
};

const isCampaignIssue = (issue: Issue): issue is Issue<CampaignIssueCode> => Object.hasOwn(WORDS, issue.code);

const describeCampaignIssue = <Code extends CampaignIssueCode>({ code, facts }: Issue<Code>): string =>
  WORDS[code](facts);

/** Returns a campaign issue as a sentence for marketers. */
export const describeIssue = (issue: Issue): string => {
  if (isCampaignIssue(issue)) return describeCampaignIssue(issue);
  const { message } = issue;
  const sentence = capitalize(message);
  return /[.?]$/.test(sentence) ? sentence : `${sentence}.`;
};
