/** What can be wrong with a campaign or a segment: each code with its facts, in the words of its file. */
const ISSUES = {
  /** Anything that has no words of its own outside of the file. */
  invalid: ({ message }: { message: string }) => message,
  empty: ({ got }: { got: string }) => `expected it not to be empty, got ${got}`,
  repeated: ({ value }: { value: string }) => `expected it once, got ${JSON.stringify(value)} again`,
  unknown_placement: ({ id }: { id: string }) =>
    `expected a placement_id of 'placements', got ${JSON.stringify(id)}`,
  unknown_segment: ({ id }: { id: unknown }) =>
    `expected a segment_id of 'segments', got ${JSON.stringify(id)}`,
  ends_before_start: (_: Record<never, never>) => "expected an instant after 'starts_at'",
  no_weight: (_: Record<never, never>) => 'expected a weight above 0',
  invalid_language: ({ got }: { got: string }) =>
    `expected a language as BCP 47 writes it, such as 'de' or 'pt-BR', got ${got}`,
  invalid_attribute_value: ({ name, got }: { name: string; got: string }) =>
    `expected a value that '${name}' can have, got ${got}`,
  not_a_text_property: (_: Record<never, never>) =>
    "expected a property of the variant, of the type 'string' or 'image'",
  invalid_template: ({ reason }: { reason: string }) =>
    `expected a Liquid template, got one that fails: ${reason}`,
  templates_too_long: ({ max, length }: { max: number; length: number }) =>
    `expected at most ${max} characters in all texts with {{ or {%, got ${length}`,
  unknown_variable: ({ variable, suggestion }: { variable: string; suggestion: string | null }) =>
    `unknown variable ${variable}, which prints nothing${suggestion === null ? '' : `; did you mean ${suggestion}?`}`,
  unknown_operator: ({ operators }: { operators: readonly string[] }) =>
    `expected one of ${operators.join(', ')}`,
  empty_group: (_: Record<never, never>) => 'expected an array of filters that is not empty',
  reserved_name: (_: Record<never, never>) => 'expected a member\'s name, got "__proto__"',
  number_expected: (_: Record<never, never>) => 'expected a number',
  date_expected: ({ example }: { example: string }) => `expected a date such as ${example}`,
};

type Issues = typeof ISSUES;
export type IssueCode = keyof Issues;
export type IssueFacts<Code extends IssueCode> = Parameters<Issues[Code]>[0];

/** What is wrong, for programs as a code with its facts, and for who writes the file as a sentence. */
export type Issue = {
  [Code in IssueCode]: { code: Code; facts: IssueFacts<Code>; message: string };
}[IssueCode];

/** An issue, and where it is. */
export type LocatedIssue = Issue & { path: PropertyKey[] };

export const createIssue = <Code extends IssueCode>(code: Code, facts: IssueFacts<Code>): Issue => {
  const message: (facts: never) => string = ISSUES[code];
  return { code, facts, message: message(facts as never) } as Issue;
};

export const invalid = (message: string): Issue => createIssue('invalid', { message });

/** Receives what is wrong, at a path inside of what is checked. */
export type ReportIssue = (path: PropertyKey[], issue: Issue) => void;
