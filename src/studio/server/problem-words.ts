import { liquidWords } from '../campaign/liquid-words.ts';

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
