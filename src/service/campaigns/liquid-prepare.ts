import { Expression, Output, TagToken, type Template, type Token, TokenKind, toValueSync } from 'liquidjs';
import { checkValues } from './liquid-filters.ts';
import { Float } from './liquid-values.ts';
import { COST } from './render-budget.ts';
import type { Variable } from './variables.ts';

/** Template ready for rendering. */
export interface Compiled {
  template: Template[];
  /** Variables that the template reads and does not assign. */
  variables: Variable[];
  /** Variables that the template prints unconditionally and without a `default`. */
  withoutDefault: Variable[];
}

type AnyToken = Token & {
  content?: unknown;
  variable?: AnyToken;
  props?: AnyToken[];
  lhs?: AnyToken;
  rhs?: AnyToken;
  initial?: { postfix: AnyToken[] };
  filters?: { name: string; args: (AnyToken | [string, AnyToken | undefined])[] }[];
};

const numberAs = (token: AnyToken): unknown => {
  const { content } = token;
  return Number.isInteger(content) && token.getText().includes('.') ? new Float(content) : content;
};

/** Converts a range bound to an integer that a loop can count from. */
const bounded = (token: AnyToken): Partial<AnyToken> => ({
  kind: TokenKind.FilteredValue,
  initial: new Expression([token]),
  filters: [{ name: 'bound of a range', args: [] }],
});

/** Returns the nested values of a value. */
const getNestedTokens = ({
  kind,
  variable,
  props = [],
  lhs,
  rhs,
  initial,
  filters = [],
}: AnyToken): AnyToken[] => {
  const parts = [...props, ...(initial?.postfix ?? [])];
  for (const each of [variable, lhs, rhs]) if (each) parts.push(each);
  // The first name of a variable is an identifier, not a value.
  if (kind === TokenKind.PropertyAccess && !variable) parts.shift();
  for (const { args } of filters) {
    for (const each of args) {
      const value = Array.isArray(each) ? each[1] : each;
      if (value) parts.push(value);
    }
  }
  return parts;
};

/** Whether an output has no fallback for a missing value. */
const printsBare = (template: Template): boolean =>
  template instanceof Output && template.value.filters.every(({ name }) => name !== 'default');

/** Blocks that print nothing if they contain only whitespace. */
const BLOCKS = new Set(['if', 'unless', 'case', 'for']);
const WITHOUT_TEXT = new Set(['assign', 'capture', 'comment', '#']);
const getTagName = ({ token }: Template): string => (token instanceof TagToken ? token.name : '');
const isBlankText = ({ token }: Template): boolean =>
  token.kind === TokenKind.HTML && token.getText().trim() === '';
const getChildren = (template: Template): Template[] =>
  toValueSync<Template[]>(template.children?.(false, true) ?? []);

/** Whether a block contains only whitespace and tags without output. */
const blank = new WeakMap<Template, boolean>();
const isBlankBlock = (template: Template): boolean => {
  if (!BLOCKS.has(getTagName(template))) return false;
  const cached = blank.get(template);
  if (cached !== undefined) return cached;
  const isBlank = getChildren(template).every(
    (each) => WITHOUT_TEXT.has(getTagName(each)) || isBlankText(each) || isBlankBlock(each),
  );
  blank.set(template, isBlank);
  return isBlank;
};

const WEIGHT = Symbol('weight');
/** The cost of a part of a template is a property, because a WeakMap with thousands of entries costs more than parsing. */
declare module 'liquidjs' {
  interface Template {
    [WEIGHT]?: number;
  }
}
const silent = new WeakSet<Template>();

/** Returns the cost of a template part, without its filters and children. */
export const getWeight = (template: Template): number => template[WEIGHT]!;
/** Whether the part is whitespace that is not printed. */
export const isSilent = (template: Template): boolean => silent.has(template);

/**
 * Assigns costs to the parts of a template, checks filters, collects variables, and suppresses whitespace-only blocks like the
 * reference implementation.
 */
export const prepare = (template: Template[]): Compiled => {
  const found: Variable[] = [];
  const withoutDefault: Variable[] = [];
  const outputs = new Set(template.filter(printsBare));
  const own = new Set<string>();
  const templates = [...template];
  for (let each = templates.pop(); each; each = templates.pop()) {
    for (const name of each.blockScope?.() ?? []) own.add(name);
    for (const { content } of each.localScope?.() ?? []) own.add(content);
    const { begin, end } = each.token;
    let weight = COST.node + (end - begin) * COST.character;
    const tokens = [...(each.arguments?.() ?? [])] as AnyToken[];
    for (let token = tokens.pop(); token; token = tokens.pop()) {
      weight += COST.token;
      const { kind, variable, props, lhs, rhs, filters = [] } = token;
      for (const { name, args } of filters)
        checkValues(name, args.filter((value) => !Array.isArray(value)).length);
      if (kind === TokenKind.PropertyAccess && !variable) {
        const [root, member] = props!;
        if (typeof root!.content === 'string') {
          const variable = {
            root: root!.content,
            member: typeof member?.content === 'string' ? member.content : null,
          };
          found.push(variable);
          if (outputs.has(each)) withoutDefault.push(variable);
        }
      }
      for (const part of getNestedTokens(token)) tokens.push(part);
      if (kind === TokenKind.Number) token.content = numberAs(token);
      if (kind === TokenKind.Range) Object.assign(token, { lhs: bounded(lhs!), rhs: bounded(rhs!) });
    }
    each[WEIGHT] = weight;
    const isBlank = isBlankBlock(each);
    for (const child of getChildren(each)) {
      templates.push(child);
      if (isBlank && isBlankText(child)) silent.add(child);
    }
  }
  const isRead = ({ root }: Variable) => !own.has(root);
  return { template, variables: found.filter(isRead), withoutDefault: withoutDefault.filter(isRead) };
};
