import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';

/** Renders the chart where Helm is not installed: the part of its template language that the chart uses, and nothing else. */

const CHART = 'deploy/chart';

// biome-ignore lint/suspicious/noExplicitAny: values of a template
type Value = any;
interface Scope {
  dot: Value;
  root: Value;
  variables: Record<string, Value>;
}
type Block =
  | { kind: 'text'; text: string }
  | { kind: 'print'; source: string }
  | { kind: 'branch'; source: string; body: Block[] };

/** `{{-` and `-}}` trim the whitespace beside them. */
const tokens = (text: string): { text?: string; action?: string }[] => {
  const parts = text.split(/(\s*\{\{-|\{\{)([\s\S]*?)(-\}\}\s*|\}\})/);
  return parts.flatMap((part, at): { text?: string; action?: string }[] =>
    at % 4 === 0 ? [{ text: part }] : at % 4 === 2 ? [{ action: part.trim() }] : [],
  );
};

const parseTemplate = (text: string): { blocks: Block[]; defines: Map<string, Block[]> } => {
  const defines = new Map<string, Block[]>();
  const stack: Block[][] = [[]];
  for (const { text: plain, action = '' } of tokens(text)) {
    const top = stack.at(-1)!;
    if (plain !== undefined) top.push({ kind: 'text', text: plain });
    else if (action === 'end') stack.pop();
    else if (/^(?:if|with|range) /.test(action)) {
      const body: Block[] = [];
      top.push({ kind: 'branch', source: action, body });
      stack.push(body);
    } else if (action.startsWith('define ')) {
      const body: Block[] = [];
      defines.set(/"(.*)"/.exec(action)![1]!, body);
      stack.push(body);
    } else top.push({ kind: 'print', source: action });
  }
  return { blocks: stack[0]!, defines };
};

const indent = (text: string, spaces: number) => text.replace(/^(?=.)/gm, ' '.repeat(spaces));

export const renderChart = (given: Record<string, Value> = {}): Value[] => {
  const files = globSync(`${CHART}/templates/*`);
  const templates = files.map((file) => ({ file, ...parseTemplate(readFileSync(file, 'utf8')) }));
  const defines = new Map(templates.flatMap((each) => [...each.defines]));
  const chart = parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8'));
  const defaults = parse(readFileSync(`${CHART}/values.yaml`, 'utf8'));
  const values = Object.fromEntries(
    [...new Set([...Object.keys(defaults), ...Object.keys(given)])].map((name) => {
      const [mine, theirs] = [defaults[name], given[name]];
      const isMap = typeof mine === 'object' && mine !== null && !Array.isArray(mine);
      return [name, theirs === undefined ? mine : isMap ? { ...mine, ...theirs } : theirs];
    }),
  );
  const root = {
    Values: values,
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    Release: { Name: 'test', Service: 'Helm' },
  };

  const functions: Record<string, (scope: Scope, ...args: Value[]) => Value> = {
    quote: (_, value) => JSON.stringify(String(value)),
    default: (_, other, value) => value || other,
    printf: (_, format: string, ...args) => args.reduce((text, arg) => text.replace('%s', arg), format),
    add: (_, ...numbers) => numbers.reduce((sum, each) => sum + each, 0),
    list: (_, ...items) => items,
    trunc: (_, length, text: string) => text.slice(0, length),
    trimSuffix: (_, suffix: string, text: string) =>
      text.endsWith(suffix) ? text.slice(0, -suffix.length) : text,
    toYaml: (_, value) => stringify(value).trimEnd(),
    nindent: (_, spaces, text: string) => `\n${indent(text, spaces)}`,
    include: (scope, name, dot) => render(defines.get(name)!, { ...scope, dot }).trim(),
    required: (_, message, value) => {
      if (value === undefined || value === '') throw new Error(message);
      return value;
    },
  };

  const evaluate = (source: string, scope: Scope): Value => {
    const words = source.match(/"[^"]*"|[()|]|[^\s()|]+/g) ?? [];
    let at = 0;
    const readTerm = (): Value => {
      const word = words[at++]!;
      if (word === '(') {
        const value = readPipe();
        at += 1;
        return value;
      }
      if (word.startsWith('"')) return JSON.parse(word);
      if (/^\d+$/.test(word)) return Number(word);
      if (/^\$\w/.test(word)) return scope.variables[word];
      const [base, path] = word.startsWith('$') ? [scope.root, word.slice(1)] : [scope.dot, word];
      if (!path.startsWith('.') && path !== '')
        throw new Error(`${word} in {{ ${source} }} is not rendered here`);
      return path
        .split('.')
        .filter(Boolean)
        .reduce((value, name) => {
          if (!Object.hasOwn(value, name)) throw new Error(`{{ ${source} }}: there is no ${name}`);
          return value[name];
        }, base);
    };
    const readCall = (piped: Value[]): Value => {
      const apply = Object.hasOwn(functions, words[at]!) ? functions[words[at++]!] : undefined;
      const args: Value[] = [];
      while (at < words.length && words[at] !== '|' && words[at] !== ')') args.push(readTerm());
      return apply ? apply(scope, ...args, ...piped) : args[0];
    };
    const readPipe = (): Value => {
      let value = readCall([]);
      while (words[at] === '|') {
        at += 1;
        value = readCall([value]);
      }
      return value;
    };
    return readPipe();
  };

  const isTrue = (value: Value) =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);

  const branch = (source: string, body: Block[], scope: Scope): string => {
    const [, keyword, variables, expression = ''] = /^(if|with|range) (?:(\$\w+, \$\w+) := )?([\s\S]*)$/.exec(
      source,
    )!;
    const value = evaluate(expression, scope);
    if (keyword !== 'range') {
      return isTrue(value) ? render(body, keyword === 'with' ? { ...scope, dot: value } : scope) : '';
    }
    const [key, item] = variables?.split(', ') ?? [];
    return Object.entries(value)
      .map(([name, each]) =>
        render(body, {
          ...scope,
          dot: each,
          variables: { ...scope.variables, ...(key && item && { [key]: name, [item]: each }) },
        }),
      )
      .join('');
  };

  const render = (blocks: readonly Block[], scope: Scope): string =>
    blocks
      .map((block) => {
        if (block.kind === 'text') return block.text;
        return block.kind === 'print'
          ? String(evaluate(block.source, scope))
          : branch(block.source, block.body, scope);
      })
      .join('');

  return templates
    .filter(({ file }) => !basename(file).startsWith('_'))
    .flatMap(({ file, blocks }) =>
      parseAllDocuments(render(blocks, { dot: root, root, variables: {} })).map((document) => {
        if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]!.message}`);
        return document.toJS();
      }),
    )
    .filter((manifest) => manifest !== null);
};
