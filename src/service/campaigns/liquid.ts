import { Context, evalToken, ForTag, Liquid, TablerowTag, type Template, toValueSync } from 'liquidjs';
import { registerFilters } from './liquid-filters.ts';
import { type Compiled, getWeight, isSilent, prepare } from './liquid-prepare.ts';
import { countEntries, registerOperators, toText, writtenLength } from './liquid-values.ts';
import { type Budget, COST } from './render-budget.ts';
import { OverBudgetError } from './render-errors.ts';

/** Unsupported tags, because they read other templates. */
const OF_FILES = ['include', 'render', 'layout', 'block'];

type Emitter = NonNullable<Parameters<Liquid['renderer']['renderTemplates']>[2]>;

/** Creates an emitter that collects the output of a template and charges the budget. */
const createEmitter = (budget: Pick<Budget, 'use'>): Emitter => ({
  buffer: '',
  write(value) {
    budget.use(writtenLength(value, budget) * COST.character);
    this.buffer += toText(value);
  },
});

/** Reimplements the library's render loop, with a cost for every step. */
function* renderTemplates(
  templates: Template[],
  context: Context,
  given?: Emitter,
): Generator<unknown, string> {
  const budget = context.memoryLimit;
  const emitter = given ?? createEmitter(budget);
  budget.use(COST.node);
  for (const template of templates) {
    if (isSilent(template)) continue;
    budget.use(getWeight(template));
    const isLoop = template instanceof ForTag || template instanceof TablerowTag;
    // A loop copies the list before its first iteration.
    if (isLoop) budget.use(countEntries(yield evalToken(template.collection, context)) * COST.element);
    const text = yield template.render(context, emitter);
    if (text) emitter.write(text);
    if (context.breakCalled || context.continueCalled) break;
  }
  return emitter.buffer;
}

/** Context that charges for `size` of an object, because it counts the members. */
class BudgetedContext extends Context {
  override readProperty(of: object, name: string | number) {
    if (name === 'size') this.memoryLimit.use(countEntries(of) * COST.element);
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
 * Converts names to Liquid inside outputs and tags: `${first_name}` → `user["first_name"]`, `custom_attribute.${tier}` →
 * `custom_attribute["tier"]`. A name ends at its own brace. In `{{${first_name}}}`, the first closing brace ends the name, and
 * the other two end the output.
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
      // Without another closing brace, no output can end either.
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

/** Compiles a template of a campaign. Throws if it cannot be parsed. */
export const compile = (text: string): Compiled => prepare(liquid.parse(toLiquid(text)));

/** Renders a template. Throws an `OverBudgetError` if it exceeds the budget. */
export const render = ({ template }: Compiled, scope: Record<string, unknown>, budget: Budget): string => {
  // The library's limit type has private members that are never read.
  const limit = budget as never;
  const limits = { memoryLimit: limit, renderLimit: limit, liquid };
  const context = new BudgetedContext(scope, liquid.options, { sync: true }, limits);
  try {
    return toValueSync(renderTemplates(template, context));
  } catch (error) {
    // The library wraps errors, so the budget determines which error to throw.
    throw budget.isSpent ? new OverBudgetError() : error;
  }
};
