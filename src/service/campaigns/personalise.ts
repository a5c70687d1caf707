import { Liquid, type Template } from 'liquidjs';
import { readDate } from '../users/dates.ts';
import type { CampaignFile } from '../workspace/file-schema.ts';
import { readDatesInUtc } from './date-filters.ts';
import type { PersonaliseContext } from './personalise-context.ts';
import { quickText } from './quick-text.ts';
import { TemplateError } from './unfilled.ts';
import { unknownVariables } from './unknown-variables.ts';
import type { Fill } from './write-properties.ts';

const MAX_TEMPLATE_CHARACTERS = 100_000;
/** Far above what a sound template needs: a busy machine must show what an idle one shows. */
const MAX_RENDER_MS = 500;
/** Liquid counts what a render allocates, in characters and array elements. */
const MAX_RENDER_MEMORY = 100_000;
/** What liquidjs says at the two limits. */
const OUT_OF_TIME = 'template render limit exceeded';
const OUT_OF_MEMORY = 'memory alloc limit exceeded';
/** A property that renders longer is refused: an answer must stay small. */
const MAX_RENDERED_CHARACTERS = 100_000;

type Property = CampaignFile['variants'][number]['properties'][string];

// `templates` in place of a file system: `include`, `render` and `layout` find nothing.
const liquid = new Liquid({
  templates: {},
  strictFilters: true,
  ownPropertyOnly: true,
  timezoneOffset: 0,
  locale: 'en-US',
  parseLimit: MAX_TEMPLATE_CHARACTERS,
  renderLimit: MAX_RENDER_MS,
  memoryLimit: MAX_RENDER_MEMORY,
});
readDatesInUtc(liquid);

const isTemplate = (text: string) => text.includes('{{') || text.includes('{%');

/**
 * An output or a tag. A `${…}` inside is taken whole: in `{{${first_name}}}` the first brace of the three ends the name,
 * and the first two of them must not end the output.
 */
const MARKUP = /\{\{(?:\$\{[^}]*\}|(?!\}\}).)*\}\}|\{%(?:\$\{[^}]*\}|(?!%\}).)*%\}/gs;

/** `${first_name}` → `user["first_name"]`, `custom_attribute.${tier}` → `custom_attribute["tier"]`. */
const toLiquid = (text: string): string =>
  text.replace(MARKUP, (markup) =>
    markup.replace(
      /(?:(\w+)\.)?\$\{([^}]*)\}/g,
      (_, namespace: string | undefined, name: string) =>
        `${namespace ?? 'user'}[${JSON.stringify(name.trim())}]`,
    ),
  );

/** Liquid reads `size` of what has no such member as the number of members: a missing shoe size would be a small shoe. */
const withSize = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.hasOwn(members, 'size') ? members : Object.defineProperty({ ...members }, 'size', { value: null });

const scopeOf = ({ user, customAttributes, device }: PersonaliseContext) => ({
  user: withSize(user),
  custom_attribute: withSize(customAttributes),
  targeted_device: withSize(device),
});

const hit = (limit: string, error: unknown): boolean => (error as Error).message.includes(limit);

/**
 * The time is the wall's: a process that stood still uses it up in the template that was under way. So one that took too
 * long is given a second try, and one that runs wild costs twice its time.
 */
const render = (template: Template[], context: PersonaliseContext, isSecondTry = false): unknown => {
  try {
    return liquid.renderSync(template, scopeOf(context));
  } catch (error) {
    if (hit(OUT_OF_MEMORY, error)) throw new TemplateError('A template exceeds its memory limit');
    if (!hit(OUT_OF_TIME, error)) throw error;
    if (isSecondTry) throw new TemplateError(`A template exceeds its render limit of ${MAX_RENDER_MS} ms`);
    return render(template, context, true);
  }
};

const bounded = (text: string): string => {
  if (text.length > MAX_RENDERED_CHARACTERS) throw new TemplateError('A template renders too long a text');
  return text;
};

/** Receives what is wrong with a template that can be rendered all the same. */
type Warn = (problem: string) => void;

const compileText = (text: string, warn: Warn): ((context: PersonaliseContext) => string) => {
  if (!isTemplate(text)) return () => text;
  const template: Template[] = liquid.parse(toLiquid(text));
  unknownVariables(liquid, template).forEach(warn);
  // `null` where the template does more than put names into a sentence; and again below, for a name that is no plain text.
  const quick = quickText(text);
  return (context) => {
    const filled = quick?.(context) ?? null;
    if (filled !== null) return bounded(filled);
    // Half of a surrogate pair can be cut off by a filter; the answer must stay valid UTF-8.
    return bounded(String(render(template, context))).toWellFormed();
  };
};

/** Texts anywhere inside are templates, names are not. */
const compileJson = (value: unknown, warn: Warn): Fill => {
  if (typeof value === 'string') return compileText(value, warn);
  if (Array.isArray(value)) {
    const parts = value.map((part) => compileJson(part, warn));
    return (context) => parts.map((fill) => fill(context));
  }
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value).map(([name, part]) => [name, compileJson(part, warn)] as const);
    return (context) => Object.fromEntries(parts.map(([name, fill]) => [name, fill(context)]));
  }
  return () => value;
};

const numberOf = (text: string): number => {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) throw new TemplateError('A template does not render a number');
  return number;
};

const booleanOf = (text: string): boolean => {
  if (text.trim() === 'true') return true;
  if (text.trim() === 'false') return false;
  throw new TemplateError('A template does not render true or false');
};

const datetimeOf = (text: string): number => {
  const rendered = text.trim();
  const time = /^-?\d+$/.test(rendered) ? Number(rendered) : readDate(rendered);
  if (!Number.isSafeInteger(time)) throw new TemplateError('A template does not render a date');
  return time;
};

const CONVERT = { number: numberOf, boolean: booleanOf, datetime: datetimeOf };

const hasTemplate = (value: unknown): boolean => {
  if (typeof value === 'string') return isTemplate(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasTemplate);
};

/** Compiles a property's value once: `null` where it is the same for everyone. Throws where a template cannot be read. */
export const compileProperty = ({ type, value }: Property, warn: Warn = () => undefined): Fill | null => {
  if (!hasTemplate(value)) return null;
  if (type === 'jsonobject') return compileJson(value, warn);
  if (typeof value !== 'string') return null;
  const text = compileText(value, warn);
  if (type === 'string' || type === 'image') return text;
  const convert = CONVERT[type];
  return (context) => convert(text(context));
};
