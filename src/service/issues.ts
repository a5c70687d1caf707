import { formatCount } from './format-count.ts';

/** Messages by code of issues that are specific to a workspace file or have the same message everywhere. */
const FILE_ISSUES = {
  invalid: ({ message }: { message: string }) => message,
  invalid_type: ({ expected, got }: { expected: string; got: string }) => `expected ${expected}, got ${got}`,
  invalid_value: ({ allowed, got }: { allowed: readonly unknown[]; got: string }) =>
    `expected ${allowed.map((value) => JSON.stringify(value)).join(' or ')}, got ${got}`,
  out_of_range: ({ bound, got }: { bound: string; got: string }) => `expected ${bound}, got ${got}`,
  invalid_format: ({ expected, got }: { expected: string; got: string }) =>
    `expected ${expected}, got ${got}`,
  unknown_field: (_: Record<never, never>) => 'unknown field',
  renamed_field: ({ name }: { name: string }) => `unknown field: its name is now '${name}'`,
  duplicate_field: (_: Record<never, never>) => 'expected it once, got it again',
  duplicate_key: (_: Record<never, never>) => 'expected another key than the ones before it',
  not_json: ({ position }: { position: string }) =>
    `expected JSON, got something that cannot be parsed (${position})`,
  empty_folder: (_: Record<never, never>) => 'expected a folder with at least one .json file',
  duplicate_workspace: ({ id, source }: { id: string; source: string }) =>
    `expected a unique ID, got ${JSON.stringify(id)} as in ${source}`,
  shared_key: ({ workspace }: { workspace: string }) =>
    `expected a unique key, got the one of workspace ${JSON.stringify(workspace)}`,
  invalid_public_key: ({ reason }: { reason: string }) => reason,
  missing_public_key: (_: Record<never, never>) =>
    "expected a key in 'user_token_keys' or 'user_token_keys_file'",
  unreadable_key_file: (_: Record<never, never>) => 'expected a readable file next to the workspace file',
  unprotected_app: ({ app, strict }: { app: string; strict: string }) =>
    `${app} accepts requests without a token, so the users of ${strict} are not protected: write "required"`,
  low_workspace_limit: ({ requests, seconds }: { requests: number; seconds: number }) =>
    `the limit of ${formatCount(requests, 'request')} in ${formatCount(seconds, 'second')} counts all users of the workspace together; write "per_user" to limit each user`,
  low_user_limit: ({ requests, seconds }: { requests: number; seconds: number }) =>
    `the limit of ${formatCount(requests, 'request')} in ${formatCount(seconds, 'second')} rejects a user who reads a few pages`,
};

/** Messages by code of campaign and segment issues in a file. The Studio has its own messages. */
const CAMPAIGN_ISSUES = {
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

const ISSUES = { ...FILE_ISSUES, ...CAMPAIGN_ISSUES };
type Issues = typeof ISSUES;
export type IssueCode = keyof Issues;
export type CampaignIssueCode = keyof typeof CAMPAIGN_ISSUES;
type Facts = { [Code in IssueCode]: Parameters<Issues[Code]>[0] };
export type IssueFacts<Code extends IssueCode> = Facts[Code];
const MESSAGES: { [Code in IssueCode]: (facts: Facts[Code]) => string } = ISSUES;

/** Issue code with its facts and the message for the author of a file. */
export type Issue<Code extends IssueCode = IssueCode> = {
  [Each in Code]: { code: Each; facts: Facts[Each]; message: string };
}[Code];

/** Issue with its path in the checked value. */
export type LocatedIssue = Issue & { path: PropertyKey[] };

export const createIssue = <Code extends IssueCode>(code: Code, facts: Facts[Code]) => ({
  code,
  facts,
  message: MESSAGES[code](facts),
});

export const invalid = (message: string): Issue => createIssue('invalid', { message });

/** Receives an issue with its path in the checked value. */
export type ReportIssue = (path: PropertyKey[], issue: Issue) => void;
