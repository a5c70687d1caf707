import {
  Context,
  Expression,
  evalToken,
  Liquid,
  Output,
  type Template,
  type Token,
  TokenKind,
  toValueSync,
} from 'liquidjs';
import { registerFilters } from './liquid-filters.ts';
import { Float, lengthOf, registerOperators, textOf, writtenLength } from './liquid-values.ts';
import { type Budget, COST } from './render-budget.ts';
import { OverBudgetError } from './unfilled.ts';
import type { Variable } from './variables.ts';

/** Tags that read other templates. There are none. */
const OF_FILES = ['include', 'render', 'layout', 'block'];

/** A template that is ready to be rendered. */
export interface Compiled {
  template: Template[];
  /** Every variable that it reads and does not set. */
  variables: Variable[];
  /** Those that it prints whatever else it says, and without a `default`. */
  bare: Variable[];
}

const weights = new WeakMap<Template, number>();

type Emitter = NonNullable<Parameters<Liquid['renderer']['renderTemplates']>[2]>;
type Loop = Template & { collection?: Token };

/** Collects what a template prints, at its cost. */
const createEmitter = (budget: Budget): Emitter => ({
  buffer: '',
  write(value) {
    budget.use(writtenLength(value, budget) * COST.letter);
    this.buffer += textOf(value);
  },
});

/** The library's own loop, with a price on every step. */
function* renderTemplates(
  templates: Template[],
  context: Context,
  given?: Emitter,
): IterableIterator<unknown> {
  const budget = context.memoryLimit as unknown as Budget;
  const emitter = given ?? createEmitter(budget);
  budget.use(COST.node);
  for (const template of templates) {
    budget.use(weights.get(template)!);
    const { collection } = template as Loop;
    // A loop copies the list before its first round.
    if (collection) budget.use(lengthOf(yield evalToken(collection, context)) * COST.element);
    const text = yield template.render(context, emitter);
    if (text) emitter.write(text);
    if (context.breakCalled || context.continueCalled) break;
  }
  return emitter.buffer;
}

/** Reading the size of an object counts its members. */
class BudgetedContext extends Context {
  override readProperty(of: object, name: string | number) {
    if (name === 'size') this.memoryLimit.use(lengthOf(of) * COST.element);
    return super.readProperty(of, name);
  }

  override spawn(scope = {}) {
    const { opts, memoryLimit, renderLimit, liquid, sync, globals, strictVariables, ownPropertyOnly } = this;
    const options = { sync, globals, strictVariables, ownPropertyOnly };
    return new BudgetedContext(scope, opts, options, { memoryLimit, renderLimit, liquid });
  }
}

const liquid = new Liquid({
  strictFilters: true,
  ownPropertyOnly: true,
  timezoneOffset: 0,
  locale: 'en-US',
  operators: registerOperators(),
});
registerFilters(liquid);
for (const name of OF_FILES) delete liquid.tags[name];
liquid.renderer.renderTemplates = renderTemplates;

const OUTPUT = '{{';
const TAG = '{%';
const isWord = (letter: string | undefined) => letter !== undefined && /\w/.test(letter);

/**
 * Writes names as Liquid has them: `${first_name}` → `user["first_name"]`, `custom_attribute.${tier}` →
 * `custom_attribute["tier"]`; only inside of an output or a tag. A name is taken whole: in `{{${first_name}}}` the first brace of
 * the three ends the name, and the first two of them must not end the output.
 */
export const toLiquid = (text: string): string => {
  let written = '';
  let from = 0;
  let end: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    if (end === null) {
      if (text.startsWith(OUTPUT, at)) end = '}}';
      else if (text.startsWith(TAG, at)) end = '%}';
      if (end !== null) at += 1;
    } else if (text.startsWith(end, at)) {
      end = null;
      at += 1;
    } else if (text.startsWith('${', at)) {
      const close = text.indexOf('}', at + 2);
      // No name ends any more, and no output does.
      if (close < 0) break;
      let namespace = at;
      if (text[at - 1] === '.') {
        namespace = at - 1;
        while (namespace > from && isWord(text[namespace - 1])) namespace -= 1;
        if (namespace === at - 1) namespace = at;
      }
      const name = JSON.stringify(text.slice(at + 2, close).trim());
      const owner = namespace === at ? 'user' : text.slice(namespace, at - 1);
      written += `${text.slice(from, namespace)}${owner}[${name}]`;
      from = close + 1;
      at = close;
    }
  }
  return written + text.slice(from);
};

type AnyToken = Token & {
  content?: unknown;
  variable?: AnyToken;
  props?: AnyToken[];
  lhs?: AnyToken;
  rhs?: AnyToken;
  initial?: { postfix: AnyToken[] };
  filters?: { args: (AnyToken | [string, AnyToken | undefined])[] }[];
};

const numberAs = (token: AnyToken): unknown => {
  const { content } = token;
  return Number.isInteger(content) && token.getText().includes('.') ? new Float(content) : content;
};

/** The bound of a range as an integer that a loop can count from. */
const bounded = (token: AnyToken): AnyToken =>
  ({
    kind: TokenKind.FilteredValue,
    initial: new Expression([token]),
    filters: [{ name: 'bound of a range', args: [] }],
  }) as unknown as AnyToken;

/** The values inside of a value. */
const partsOf = ({ kind, variable, props = [], lhs, rhs, initial, filters = [] }: AnyToken): AnyToken[] => {
  const parts = [...props, ...(initial?.postfix ?? [])];
  for (const each of [variable, lhs, rhs]) if (each) parts.push(each);
  // The first of a variable's names is a name, and no value.
  if (kind === TokenKind.PropertyAccess && !variable) parts.shift();
  for (const { args } of filters) {
    for (const each of args) {
      const value = Array.isArray(each) ? each[1] : each;
      if (value) parts.push(value);
    }
  }
  return parts;
};

/** Whether an output has nothing that stands in for what is not there. */
const printsBare = (template: Template): boolean =>
  template instanceof Output && template.value.filters.every(({ name }) => name !== 'default');

/** Weighs each part of a template by what is written in it, and finds the variables. */
const prepare = (template: Template[]): Compiled => {
  const found: Variable[] = [];
  const bare: Variable[] = [];
  const outputs = new Set(template.filter(printsBare));
  const own = new Set<string>();
  const templates = [...template];
  for (let each = templates.pop(); each; each = templates.pop()) {
    for (const name of each.blockScope?.() ?? []) own.add(name);
    for (const { content } of each.localScope?.() ?? []) own.add(content);
    const { begin, end } = each.token;
    let weight = COST.node + (end - begin) * COST.letter;
    const tokens = [...(each.arguments?.() ?? [])] as unknown as AnyToken[];
    for (let token = tokens.pop(); token; token = tokens.pop()) {
      weight += COST.token;
      const { kind, variable, props, lhs, rhs } = token;
      if (kind === TokenKind.PropertyAccess && !variable) {
        const [root, member] = props!;
        if (typeof root!.content === 'string') {
          const variable = { root: root!.content, member: (member?.content as string | undefined) ?? null };
          found.push(variable);
          if (outputs.has(each)) bare.push(variable);
        }
      }
      for (const part of partsOf(token)) tokens.push(part);
      if (kind === TokenKind.Number) token.content = numberAs(token);
      if (kind === TokenKind.Range) Object.assign(token, { lhs: bounded(lhs!), rhs: bounded(rhs!) });
    }
    weights.set(each, weight);
    for (const child of toValueSync<Template[]>(each.children?.(false, true) ?? [])) templates.push(child);
  }
  const isRead = ({ root }: Variable) => !own.has(root);
  return { template, variables: found.filter(isRead), bare: bare.filter(isRead) };
};

/** Compiles a template as a campaign writes it. Throws where it cannot be read. */
export const compile = (text: string): Compiled => prepare(liquid.parse(toLiquid(text)));

/** Renders a template. Throws an `OverBudgetError` where that costs more than the budget has. */
export const render = ({ template }: Compiled, scope: Record<string, unknown>, budget: Budget): string => {
  const limits = { memoryLimit: budget as never, renderLimit: budget as never, liquid };
  const context = new BudgetedContext(scope, liquid.options, { sync: true }, limits);
  try {
    return toValueSync(renderTemplates(template, context)) as string;
  } catch (error) {
    // The library puts what it catches into errors of its own.
    throw budget.isSpent ? new OverBudgetError() : error;
  }
};
