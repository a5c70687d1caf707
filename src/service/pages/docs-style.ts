/** Style sheet of the page about the API. */
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
