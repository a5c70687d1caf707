import { hash } from 'node:crypto';
import type { Reply } from '../gate/exchange.ts';

const STYLE = `
:root { color-scheme: light dark; }
body { max-width: 56rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; font: 1rem/1.55 system-ui, sans-serif; }
h2 { margin-top: 3rem; border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding-top: 1.5rem; }
h3 { margin-bottom: .25rem; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 1rem; border-radius: .5rem; background: color-mix(in srgb, currentColor 7%, transparent); }
.verb { display: inline-block; padding: 0 .5rem; border-radius: .25rem; background: #96472a; color: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
summary { cursor: pointer; padding: .25rem 0; }
`;

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

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
/** Prose of the description: blank lines part paragraphs, backticks are code. */
const prose = (text: string) =>
  text
    .split('\n\n')
    .map((paragraph) => `<p>${escaped(paragraph).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</p>`)
    .join('\n');
const code = (value: unknown) =>
  `<pre tabindex="0"><code>${escaped(JSON.stringify(value, null, 2))}</code></pre>`;

interface Described {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: { name: string; description: string }[];
  requestBody?: { content: { 'application/json': { schema: unknown; example?: unknown } } };
  responses: Record<string, { description: string; content: { 'application/json': { schema: unknown } } }>;
}

const operationHtml = (verb: string, path: string, operation: Described): string => {
  const body = operation.requestBody?.content['application/json'];
  const statuses = Object.entries(operation.responses);
  const success = statuses.find(([status]) => status.startsWith('2'));
  return `<section id="${escaped(operation.operationId)}">
<h3>${escaped(operation.summary)}</h3>
<p><span class="verb">${escaped(verb.toUpperCase())}</span> <code>${escaped(path)}</code></p>
${prose(operation.description ?? '')}
${(operation.parameters ?? []).map(({ name, description }) => `<p><code>?${escaped(name)}=</code> ${prose(description).slice(3)}`).join('')}
${body?.example === undefined ? '' : `<h4>Example</h4>${code(body.example)}`}
${body ? `<details><summary>What it takes</summary>${code(body.schema)}</details>` : ''}
${success ? `<details><summary>What it answers</summary>${code(success[1].content['application/json'].schema)}</details>` : ''}
<table><thead><tr><th scope="col">Status</th><th scope="col">When</th></tr></thead><tbody>
${statuses.map(([status, { description }]) => `<tr><td>${escaped(status)}</td><td>${escaped(description)}</td></tr>`).join('\n')}
</tbody></table>
</section>`;
};

/** The description of the API for people: one page, no script. */
export const docsPage = (description: Record<string, unknown>): Reply => {
  const { info, tags, paths } = description as {
    info: { title: string; summary: string };
    tags: { name: string; description: string }[];
    paths: Record<string, Record<string, Described>>;
  };
  const operations = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ verb, path, operation })),
  );
  const chapters = tags.map(({ name, description: what }) => {
    const here = operations.filter(({ operation }) => operation.tags.includes(name));
    return `<h2>${escaped(name)}</h2>${prose(what)}
${here.map(({ verb, path, operation }) => operationHtml(verb, path, operation)).join('\n')}`;
  });
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(info.title)} API</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(info.title)} API</h1>
${prose(info.summary)}
<p>Every request carries <code>Authorization: Bearer &lt;key&gt;</code>; a body is JSON. The same in a form for tools: <a href="/openapi.json">openapi.json</a>.</p>
${chapters.join('\n')}
</main>
</body>
</html>
`;
  return { status: 200, headers: HEADERS, body };
};
