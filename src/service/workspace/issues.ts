import type * as z from 'zod';
import { truncate } from '../../protocol/index.ts';
import { createIssue, type Issue, invalid, type LocatedIssue } from '../issues.ts';

/** Maximum length of a value in a message. */
const MAX_SHOWN_CHARACTERS = 40;

/** Formats a path, such as `campaigns[0].variants[1].weight`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((so_far, step) => {
    if (typeof step === 'number') return `${so_far}[${step}]`;
    const name = String(step);
    if (!/^[\w$]+$/.test(name)) return `${so_far}[${JSON.stringify(name)}]`;
    return so_far === '' ? name : `${so_far}.${name}`;
  }, '');

/** Issue of a workspace file. `file` is set if there are several files. */
export type FileIssue = LocatedIssue & { file?: string };

/** Formats an issue as one line: path, then message. */
export const formatIssue = ({ file, path, message }: FileIssue): string =>
  `${file === undefined ? '' : `${file}: `}${pathText(path) || 'the file'}: ${message}`;

/** Thrown if a workspace file cannot be used. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
  readonly source: string;
  readonly issues: readonly FileIssue[];
  /** Whether all checks ran. Some checks run only if the shape is valid. */
  readonly isComplete: boolean;

  constructor(source: string, issues: readonly FileIssue[], isComplete = false) {
    super(`${source}: ${issues.map(formatIssue).join('; ')}`);
    this.source = source;
    this.issues = issues;
    this.isComplete = isComplete;
  }
}

const shown = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return truncate(JSON.stringify(value), MAX_SHOWN_CHARACTERS);
};

/** Members that contain keys or personal data. Their invalid values may contain such data and are not logged. */
const PRIVATE = ['api_keys', 'operators', 'openid', 'user_token_keys', 'blocked_external_ids', 'test_users'];
/** Returns whether a text may be a pasted key: long, without spaces, and with digits. */
const looksLikeKey = (text: string): boolean =>
  text.includes('PRIVATE KEY') ||
  (text.match(/[\w+/=-]+/g) ?? []).some((run) => run.length >= 24 && /\d/.test(run));

/** Returns whether the input is probably a mistyped permission. Any other text may be a key. */
const isMistyped = (path: PropertyKey[], input: unknown) =>
  path.includes('permissions') && /^(?:users|banners|cdi)\.[a-z_.]{1,30}$/.test(String(input));

/** Formats the invalid value. Omits mistyped keys and personal data, which must not be logged. */
const gotText = (issue: z.core.$ZodIssue): string => {
  const { path } = issue;
  let { input } = issue;
  // The path of a discriminated union ends at the discriminator. The input is still the whole object.
  if (issue.code === 'invalid_union' && issue.discriminator) input = Object(input)[issue.discriminator];
  const isTelling = typeof input === 'string' || typeof input === 'number';
  const isPrivate =
    isTelling && (path.some((step) => PRIVATE.includes(String(step))) || looksLikeKey(String(input)));
  return isPrivate && !isMistyped(path, input) ? 'something else' : shown(input);
};

/** New names of renamed fields. */
const RENAMED_FIELDS: Readonly<Record<string, string>> = {
  expires_after_seconds: 'cache_ttl_seconds',
  lag_seconds: 'lookback_seconds',
  people: 'can_view_users',
  planned_users: 'target_sample_size',
  second_operator: 'require_approval',
};

const toIssue = (issue: z.core.$ZodIssue): Issue => {
  const got = gotText(issue);
  switch (issue.code) {
    case 'invalid_type': {
      const expected = issue.expected === 'record' ? 'object' : issue.expected;
      return createIssue('invalid_type', { expected, got });
    }
    case 'invalid_value':
      return createIssue('invalid_value', { allowed: issue.values, got });
    case 'too_small': {
      const bound = `${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
      return createIssue('out_of_range', { bound, got });
    }
    case 'too_big':
      return createIssue('out_of_range', { bound: `at most ${issue.maximum}`, got });
    case 'invalid_format': {
      const expected = issue.message.startsWith('expected ')
        ? issue.message.slice('expected '.length)
        : 'a date and time with its offset, such as 2026-03-01T00:00:00Z';
      return createIssue('invalid_format', { expected, got });
    }
    case 'invalid_union':
      if (issue.message.startsWith('expected ')) break;
      return createIssue('invalid_type', {
        expected: 'one of "string", "number", "boolean", "image", "jsonobject", "datetime"',
        got,
      });
    case 'invalid_key':
      return invalid(`${issue.issues[0]?.message ?? issue.message}, got ${got}`);
  }
  return invalid(`${issue.message}, got ${got}`);
};

/** Issue codes that schemas pass in `params.issue`, with `satisfies SchemaIssue`. */
export type SchemaIssue = 'ends_before_start' | 'no_weight' | 'invalid_language' | 'invalid_attribute_value';

/** Returns the issues of a schema with their paths. */
export const toIssues = (error: z.ZodError): LocatedIssue[] =>
  error.issues.flatMap((issue): LocatedIssue[] => {
    const { path } = issue;
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => {
        const renamed = RENAMED_FIELDS[key];
        return {
          path: [...path, key],
          ...(renamed === undefined
            ? createIssue('unknown_field', {})
            : createIssue('renamed_field', { name: renamed })),
        };
      });
    }
    // For an invalid key, the input is the key.
    const custom = issue.code === 'invalid_key' ? issue.issues[0] : issue;
    const params = custom?.code === 'custom' ? custom.params : undefined;
    const found: SchemaIssue | undefined = params?.['issue'];
    switch (found) {
      case 'ends_before_start':
        return [{ path, ...createIssue('ends_before_start', {}) }];
      case 'no_weight':
        return [{ path, ...createIssue('no_weight', {}) }];
      case 'invalid_language':
        return [{ path, ...createIssue('invalid_language', { got: gotText(issue) }) }];
      case 'invalid_attribute_value': {
        const facts = { name: String(path.at(-1)), got: gotText(issue) };
        return [{ path, ...createIssue('invalid_attribute_value', facts) }];
      }
    }
    if (issue.code === 'custom' && !params?.['tellsGot']) return [{ path, ...invalid(issue.message) }];
    const isEmpty = issue.code === 'too_small' && (issue.origin === 'string' || issue.origin === 'array');
    if (isEmpty) return [{ path, ...createIssue('empty', { got: gotText(issue) }) }];
    return [{ path, ...toIssue(issue) }];
  });

const SPACE = /[ \t\n\r]*/y;
/** JSON string: characters from U+0020 on except quotes and backslashes, or escape sequences. */
const TEXT = /"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Problems that `JSON.parse` does not report. */
interface JsonScan {
  /** Position of the syntax error, such as `line 3 column 7`. `JSON.parse` reports it only for some errors. */
  fault: string | null;
  /** Paths of duplicate members, of which `JSON.parse` silently keeps the last. */
  repeated: PropertyKey[][];
}

export const scanJson = (text: string): JsonScan => {
  let at = 0;
  const repeated: PropertyKey[][] = [];
  const take = (pattern: RegExp): string | undefined => {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  /** Returns the match of the pattern at `at`. Throws if it does not match; `at` is then the position of the error. */
  const need = (pattern: RegExp): string => {
    const found = take(pattern);
    if (found === undefined) throw new SyntaxError('not JSON');
    return found;
  };
  const list = (end: RegExp, item: (index: number) => void) => {
    if (take(end)) return;
    item(0);
    for (let index = 1; take(/,/y); index += 1) item(index);
    need(end);
  };
  const value = (path: PropertyKey[]) => {
    if (take(/\{/y)) {
      const names = new Set<string>();
      list(/\}/y, () => {
        const name: string = JSON.parse(need(TEXT));
        if (names.has(name)) repeated.push([...path, name]);
        names.add(name);
        need(/:/y);
        value([...path, name]);
      });
    } else if (take(/\[/y)) list(/\]/y, (index) => value([...path, index]));
    else if (!take(TEXT)) need(SCALAR);
  };

  try {
    value([]);
    need(/$/y);
    return { fault: null, repeated };
  } catch {
    // Reports the position only, because the parser's message quotes the text.
    const lines = text.slice(0, at).split('\n');
    return { fault: `line ${lines.length} column ${lines.at(-1)!.length + 1}`, repeated };
  }
};
