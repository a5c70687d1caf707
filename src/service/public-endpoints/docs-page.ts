import { hash } from 'node:crypto';
import type { HandlerResult } from '../http/http-request.ts';
import type { Schema } from './responses.ts';

/** Style sheet of the API documentation page. */
export const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 7%, transparent); }
* { box-sizing: border-box; }
body { max-width: 80rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; font: 1rem/1.55 system-ui, sans-serif; }
a { color: inherit; text-underline-offset: .2em; }
h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1.5rem; }
h3 { margin-bottom: .25rem; }
h3 a { text-decoration: none; }
h3 a:hover, h3 a:focus-visible { text-decoration: underline; }
section { scroll-margin-top: 1rem; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
pre, p code { overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: 1rem; border-radius: .5rem; background: var(--soft); white-space: pre-wrap; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav li { padding: .125rem 0; }
nav p { margin: 0 0 .25rem; font-weight: 600; }
.verb { display: inline-block; padding: 0 .5rem; border-radius: .25rem; background: #96472a; color: #fff; font-size: .8125rem; }
.table { overflow-x: auto; }
.table table { min-width: 34rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
summary { cursor: pointer; padding: .5rem 0; }
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 16rem minmax(0, 1fr); gap: 3rem; }
  nav { position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow-y: auto; font-size: .9375rem; }
}
`;

/** Field of a body in a table. */
interface FieldRow {
  /** Path such as `events[].name`. `*` in `banners.*.id` is any member name. */
  path: string;
  type: string;
  isRequired: boolean;
  description: string;
}

/** Formats a type: `string`, `array of objects, at most 75`, `"click" or "dismiss"`. */
const formatType = ({ type, anyOf, enum: values, items, maxItems }: Schema): string => {
  if (values) return values.map((value) => JSON.stringify(value)).join(' or ');
  if (anyOf) return [...new Set(anyOf.map(formatType).flatMap((each) => each.split(' or ')))].join(' or ');
  if (type === 'array') {
    const itemType = items ? formatType(items) : '';
    const array = itemType === '' ? 'array' : `array of ${itemType}${/ or |"/.test(itemType) ? '' : 's'}`;
    return maxItems === undefined ? array : `${array}, at most ${maxItems.toLocaleString('en-US')}`;
  }
  return Array.isArray(type) ? type.join(' or ') : (type ?? 'anything');
};

/** Returns the object schemas inside a schema, including those in arrays and unions. */
const listObjects = (schema: Schema, path: string): { schema: Schema; path: string }[] => [
  ...(schema.properties ? [{ schema, path }] : []),
  ...(schema.anyOf ?? []).flatMap((each) => listObjects(each, path)),
  ...(schema.items ? listObjects(schema.items, `${path}[]`) : []),
  ...(typeof schema.additionalProperties === 'object'
    ? listObjects(schema.additionalProperties, path === '' ? '*' : `${path}.*`)
    : []),
];

/** Returns every field of a schema, nested fields after their parent. */
const fieldRows = (root: Schema): FieldRow[] => {
  const rows = new Map<string, FieldRow>();
  const walk = (from: Schema, at: string) => {
    for (const { schema, path } of listObjects(from, at)) {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        const here = path === '' ? name : `${path}.${name}`;
        // Skips the same field of another variant, such as one of several user identifiers.
        if (rows.has(here)) continue;
        rows.set(here, {
          path: here,
          type: formatType(field),
          isRequired: schema.required?.includes(name) ?? false,
          description: field.description ?? '',
        });
        walk(field, here);
      }
    }
  };
  walk(root, '');
  return [...rows.values()];
};

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
};

/** Shell variables of the examples. `placard track` also reads them. */
const VARIABLES = "export PLACARD_ENDPOINT=http://127.0.0.1:8787\nexport PLACARD_API_KEY='your key'";

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
/** Converts backticks to code. */
const inline = (text: string) => escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
/** Converts text to HTML paragraphs, split at blank lines. */
const prose = (text: string) =>
  text
    .split('\n\n')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('\n');
const block = (text: string) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>`;
const table = (titles: string[], rows: string[][]) => `<div class="table"><table>
<thead><tr>${titles.map((title) => `<th scope="col">${title}</th>`).join('')}</tr></thead>
<tbody>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n')}</tbody>
</table></div>`;

interface Content {
  content: { 'application/json': { schema: Schema; example?: unknown } };
}
interface Described {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: { name: string; in: string; description: string }[];
  requestBody?: Content;
  security: object[];
  responses: Record<string, { description: string } & Content>;
}
interface Description {
  info: { title: string; version: string; summary: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Described>>;
}
interface Operation {
  verb: string;
  path: string;
  operation: Described;
}

const fieldTable = (schema: Schema) => {
  const rows = fieldRows(schema);
  if (rows.length === 0) return '';
  return table(
    ['Field', 'Type', 'What it is'],
    rows.map(({ path, type, isRequired, description }) => [
      `<code>${escaped(path)}</code>`,
      `${escaped(type)}${isRequired ? ', required' : ''}`,
      inline(description),
    ]),
  );
};

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Formats the call as a shell command. */
const curl = ({ verb, path, operation }: Operation): string => {
  const example = operation.requestBody?.content['application/json'].example;
  // curl infers POST from a body, and GET otherwise.
  const inferred = operation.requestBody ? 'post' : 'get';
  return [
    `curl -s "$PLACARD_ENDPOINT${path}"`,
    ...(verb === inferred ? [] : [`-X ${verb.toUpperCase()}`]),
    ...(operation.security.length > 0 ? ['-H "Authorization: Bearer $PLACARD_API_KEY"'] : []),
    ...(operation.requestBody ? ["-H 'Content-Type: application/json'"] : []),
    ...(example === undefined ? [] : [`-d ${quoted(JSON.stringify(example))}`]),
  ].join(' \\\n  ');
};

const operationHtml = (each: Operation): string => {
  const { verb, path, operation } = each;
  const body = operation.requestBody?.content['application/json'];
  const statuses = Object.entries(operation.responses);
  const success = statuses.find(([status]) => status.startsWith('2'));
  const id = escaped(operation.operationId);
  return `<section id="${id}">
<h3><a href="#${id}">${escaped(operation.summary)}</a></h3>
<p><span class="verb">${escaped(verb.toUpperCase())}</span> <code>${escaped(path)}</code></p>
${prose(operation.description ?? '')}
${block(curl(each))}
${(operation.parameters ?? []).map(({ name, in: where, description }) => `<p><code>${where === 'path' ? `{${escaped(name)}}` : `?${escaped(name)}=`}</code> ${inline(description)}</p>`).join('')}
${body ? `<details open><summary>Request</summary>${fieldTable(body.schema)}</details>` : ''}
${success ? `<details><summary>Response</summary>${fieldTable(success[1].content['application/json'].schema)}</details>` : ''}
<details><summary>Statuses</summary>${table(
    ['Status', 'When'],
    statuses.map(([status, { description }]) => [escaped(status), escaped(description)]),
  )}</details>
</section>`;
};

/** Renders the API description as one HTML page without scripts. */
export const docsPage = ({ info, tags, paths }: Description): Extract<HandlerResult, { text: string }> => {
  const operations = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]): Operation => ({ verb, path, operation })),
  );
  const chapters = tags.map(({ name, description: what }) => ({
    name,
    what,
    id: name.toLowerCase(),
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const title = `${escaped(info.title)} API`;
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<nav aria-label="Contents">
${chapters
  .map(
    (chapter) => `<p><a href="#${chapter.id}">${escaped(chapter.name)}</a></p>
<ul>${chapter.operations.map(({ operation }) => `<li><a href="#${escaped(operation.operationId)}">${escaped(operation.summary)}</a></li>`).join('\n')}</ul>`,
  )
  .join('\n')}
</nav>
<main>
<h1>${title} <small>${escaped(info.version)}</small></h1>
${prose(info.summary)}
<p>The same for tools: <a href="/openapi.json">openapi.json</a>. Every request carries a key; a body is JSON. The examples
read two variables:</p>
${block(VARIABLES)}
${chapters
  .map(
    ({ id, name, what, operations: its }) => `<h2 id="${id}">${escaped(name)}</h2>
${prose(what)}
${its.map(operationHtml).join('\n')}`,
  )
  .join('\n')}
</main>
</body>
</html>
`;
  return { status: 200, headers: HEADERS, text };
};
