import type { PropertyType } from '../../protocol/index.ts';
import type { Issue } from '../issues.ts';
import { readDate } from '../users/dates.ts';
import type { CampaignFile } from '../workspace/campaign-schema.ts';
import { compile, render } from './liquid.ts';
import { type Budget, createBudget } from './render-budget.ts';
import { RenderError, TemplateError } from './render-errors.ts';
import { mayBeMissing, type PersonaliseContext, unknownVariables, writtenName } from './variables.ts';

/** Maximum total length of a campaign's templates in characters, because parsing takes time, too. */
export const MAX_TEMPLATE_CHARACTERS = 15_000;
/** Maximum length of a rendered text in characters, to keep responses small. */
const MAX_RENDERED_CHARACTERS = 100_000;

/** Renders a value for one user. Throws if its template cannot be rendered. */
type RenderValue<Value = unknown> = (context: PersonaliseContext, budget: Budget) => Value;

export const isTemplate = (text: string): boolean => text.includes('{{') || text.includes('{%');

/**
 * Adds a missing `size`, for which Liquid would return the member count, so that a missing shoe size would become a small number.
 */
const withSize = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.hasOwn(members, 'size') ? members : Object.defineProperty({ ...members }, 'size', { value: null });

const toScope = ({ user, customAttributes, device }: PersonaliseContext) => ({
  user: withSize(user),
  custom_attribute: withSize(customAttributes),
  targeted_device: withSize(device),
});

/** Matches text up to an output that only reads a member, with an optional plain-text default. */
const PIECE =
  /([^{]*)(?:\{\{\s*(?:(custom_attribute|targeted_device)\.)?\$\{([^}]*)\}\s*(?:\|\s*default:\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*)?\}\}|$)/y;
const SOURCES = new Map<string | undefined, Piece['from']>([
  ['custom_attribute', 'customAttributes'],
  ['targeted_device', 'device'],
]);

interface Piece {
  before: string;
  from: 'user' | 'customAttributes' | 'device';
  /** Name of the member; `null` at the end of the text. */
  name: string | null;
  fallback: string;
}

const parsePieces = (text: string): Piece[] | null => {
  const pieces: Piece[] = [];
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < text.length) {
    const match = PIECE.exec(text);
    if (!match) return null;
    const [, before = '', namespace, name, single, double] = match;
    pieces.push({
      before,
      from: SOURCES.get(namespace) ?? 'user',
      name: name?.trim() ?? null,
      fallback: single ?? double ?? '',
    });
  }
  return pieces;
};

/**
 * Compiles a template that only inserts names into a sentence, as most templates do, to a function that renders it without the
 * template library. The function returns `null` if a value is neither plain text nor missing, because the library must format it.
 * Returns `null` if the template contains anything else.
 */
export const compileSimpleTemplate = (
  text: string,
): ((context: PersonaliseContext) => string | null) | null => {
  const pieces = parsePieces(text);
  if (!pieces) return null;
  return (context) => {
    let rendered = '';
    for (const { before, from, name, fallback } of pieces) {
      rendered += before;
      if (name === null) continue;
      const source = context[from];
      const value = Object.hasOwn(source, name) ? source[name] : undefined;
      if (value === undefined || value === null) rendered += fallback;
      else if (typeof value === 'string' && value !== '') rendered += value;
      else return null;
    }
    return rendered;
  };
};

const bounded = (text: string): string => {
  if (text.length > MAX_RENDERED_CHARACTERS) throw new TemplateError('The output is too long');
  return text;
};

/** Likely mistakes in a valid template. */
export interface Diagnostics {
  warn(issue: Issue): void;
  /** Receives a variable that is printed without a default, so that the output is empty for users without a value. */
  reportMissingDefault(name: string): void;
}

const compileText = (text: string, diagnostics: Diagnostics): RenderValue<string> => {
  if (!isTemplate(text)) return () => text;
  const compiled = compile(text);
  for (const problem of unknownVariables(compiled.variables)) diagnostics.warn(problem);
  for (const variable of compiled.withoutDefault)
    if (mayBeMissing(variable)) diagnostics.reportMissingDefault(writtenName(variable));
  // `null` if the template does more than insert names. The rendered text is `null` if a value is not plain text.
  const renderSimple = compileSimpleTemplate(text);
  return (context, budget) => {
    const rendered = renderSimple?.(context) ?? null;
    if (rendered !== null) {
      budget.use(rendered.length);
      return bounded(rendered);
    }
    // A filter can split a surrogate pair, but the response must be valid UTF-8.
    return bounded(render(compiled, toScope(context), budget)).toWellFormed();
  };
};

/** Compiles all nested strings as templates, but not member names. */
const compileJson = (value: unknown, diagnostics: Diagnostics): RenderValue => {
  if (typeof value === 'string') return compileText(value, diagnostics);
  if (Array.isArray(value)) {
    const parts = value.map((part) => compileJson(part, diagnostics));
    return (context, budget) => parts.map((renderValue) => renderValue(context, budget));
  }
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value).map(
      ([name, part]) => [name, compileJson(part, diagnostics)] as const,
    );
    return (context, budget) =>
      Object.fromEntries(parts.map(([name, renderValue]) => [name, renderValue(context, budget)]));
  }
  return () => value;
};

const parseNumber = (text: string): number => {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) throw new TemplateError('The output is not a number');
  return number;
};

const parseBoolean = (text: string): boolean => {
  if (text.trim() === 'true') return true;
  if (text.trim() === 'false') return false;
  throw new TemplateError('The output is neither true nor false');
};

const parseDatetime = (text: string): number => {
  const rendered = text.trim();
  const time = /^-?\d+$/.test(rendered) ? Number(rendered) : readDate(rendered);
  if (!Number.isSafeInteger(time)) throw new TemplateError('The output is not a date');
  return time;
};

const CONVERT = { number: parseNumber, boolean: parseBoolean, datetime: parseDatetime };

/** Returns the number of characters of all templates in a value; 0 if it is the same for all users. */
export const templateLength = (value: unknown): number => {
  if (typeof value === 'string') return isTemplate(value) ? value.length : 0;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + templateLength(each), 0);
};

type PropertyFile = CampaignFile['variants'][number]['properties'][string];

/** Compiles a property value. Returns `null` if it is the same for all users. Throws if a template cannot be parsed. */
export const compileProperty = (
  { type, value }: PropertyFile,
  diagnostics: Diagnostics = { warn: () => undefined, reportMissingDefault: () => undefined },
): RenderValue | null => {
  if (templateLength(value) === 0) return null;
  if (type === 'jsonobject') return compileJson(value, diagnostics);
  if (typeof value !== 'string') return null;
  const text = compileText(value, diagnostics);
  if (type === 'string' || type === 'image') return text;
  const convert = CONVERT[type];
  return (context, budget) => convert(text(context, budget));
};

/** Property of a variant, which is a constant or a function of the user. */
export type Property = { name: string; type: PropertyType } & (
  | { value: unknown }
  | { renderValue: RenderValue }
);

/**
 * Renders a banner's `properties` as JSON for one user, within one shared budget. Throws a `RenderError` if a property cannot be
 * rendered.
 */
export type RenderProperties = (context: () => PersonaliseContext, budget?: Budget) => string;

/** Compiles properties. Serializes constant parts once, and renders the other parts per user. */
export const compileProperties = (properties: readonly Property[]): RenderProperties => {
  const parts: { before: string; name: string; renderValue: RenderValue }[] = [];
  let text = '{';
  for (const [index, property] of properties.entries()) {
    const { name, type } = property;
    text += `${index > 0 ? ',' : ''}${JSON.stringify(name)}:{"type":${JSON.stringify(type)},"value":`;
    if ('renderValue' in property) {
      parts.push({ before: text, name, renderValue: property.renderValue });
      text = '';
    } else text += JSON.stringify(property.value);
    text += '}';
  }
  const end = `${text}}`;
  if (parts.length === 0) return () => end;
  return (getContext, budget = createBudget()) => {
    const context = getContext();
    let written = '';
    for (const { before, name, renderValue } of parts) {
      try {
        written += before + JSON.stringify(renderValue(context, budget));
      } catch (error) {
        throw new RenderError(name, error);
      }
    }
    return written + end;
  };
};
