/**
 * Base styles of all templates. Hosts theme them with the custom properties below, set on any ancestor of the slot.
 * `light-dark()` follows the page's `color-scheme`, so a page without a dark scheme never gets a dark banner.
 */
export const BASE_CSS = /* css */ `
:host {
  display: grid;
  grid-template: minmax(0, 1fr) / minmax(0, 1fr);
  box-sizing: border-box;
  container-type: inline-size;
  inline-size: 100%;
  block-size: 100%;
  min-block-size: inherit;
  font-family: var(--placard-font, inherit);
  font-size: 1rem;
  font-style: normal;
  font-weight: 400;
  line-height: 1.5;
  letter-spacing: normal;
  text-align: start;
  text-indent: 0;
  text-transform: none;
  white-space: normal;
  word-spacing: normal;
}
.panel {
  --accent: var(--placard-accent, #2746c4);
  --accent-text: var(--placard-accent-text, #ffffff);
  --surface: var(--placard-background, #ffffff);
  --text: var(--placard-text, #1c1b19);
  --muted: var(--placard-muted, #55524b);
  --line: var(--placard-border, #dedbd3);
  --empty: #efece5;
  --button: var(--accent);
  --button-text: var(--accent-text);
  --focus: var(--placard-focus, var(--text));
  --space: var(--placard-space, 1rem);
  --radius: var(--placard-radius, 12px);
  position: relative;
  box-sizing: border-box;
  min-inline-size: 0;
  overflow: hidden auto;
  border: 1px solid var(--line);
  border-radius: var(--radius);
  background: var(--surface);
  box-shadow: var(--placard-shadow, none);
  color: var(--text);
  overflow-wrap: anywhere;
  contain: layout style;
}
@supports (color: light-dark(red, red)) {
  .panel {
    --accent: var(--placard-accent, light-dark(#2746c4, #a9b8ff));
    --accent-text: var(--placard-accent-text, light-dark(#ffffff, #11142a));
    --surface: var(--placard-background, light-dark(#ffffff, #1e1f23));
    --text: var(--placard-text, light-dark(#1c1b19, #f4f2ed));
    --muted: var(--placard-muted, light-dark(#55524b, #bab7af));
    --line: var(--placard-border, light-dark(#dedbd3, #3a3b41));
    --empty: light-dark(#efece5, #2b2c31);
  }
}
.panel[data-theme="light"] { color-scheme: light; }
.panel[data-theme="dark"] { color-scheme: dark; }
.panel[data-theme="accent"] {
  --surface: var(--accent);
  --text: var(--accent-text);
  --muted: var(--accent-text);
  --line: transparent;
  --button: var(--accent-text);
  --button-text: var(--accent);
  --focus: var(--accent-text);
}
p { margin: 0; }
[hidden] { display: none; }
/* Like dir="auto" on each text. With the attribute, the direction of the section would ignore these texts. */
p, .action { unicode-bidi: plaintext; }
.texts { min-inline-size: 0; }
.panel[data-content="none"] .content { display: none; }
.headline { font-family: var(--placard-headline-font, inherit); font-weight: 650; line-height: 1.25; text-wrap: balance; }
.body { margin-block-start: var(--above, 0); color: var(--muted); text-wrap: pretty; }
a { color: inherit; text-decoration: none; }
.headline a { text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: 0.18em; }
/* Extends the only link over the whole banner, without a second link for keyboards and screen readers. */
.stretched-link::after { content: ""; position: absolute; inset: 0; border-radius: var(--radius); }
.action {
  display: inline-grid;
  align-items: center;
  text-align: center;
  box-sizing: border-box;
  min-block-size: 2.75rem;
  max-inline-size: 100%;
  padding: 0.4em 1.15em;
  border: 1px solid transparent;
  border-radius: var(--placard-button-radius, calc(var(--radius) * 0.66));
  background: var(--button);
  color: var(--button-text);
  font-weight: 600;
  line-height: 1.3;
}
.panel:has(.stretched-link:hover) .action { text-decoration: underline; text-underline-offset: 0.2em; }
/* A touch target of 44 px that takes 32 px in the layout. */
.dismiss {
  all: unset;
  position: relative;
  z-index: 1;
  display: grid;
  place-items: center;
  flex: none;
  inline-size: 2.75rem;
  block-size: 2.75rem;
  margin: -0.375rem;
  color: var(--text);
  cursor: pointer;
}
.dismiss::before {
  content: "";
  position: absolute;
  z-index: -1;
  inset: 0.375rem;
  box-sizing: border-box;
  border: 1px solid transparent;
  border-radius: 50%;
  background: var(--under-dismiss, transparent);
}
.dismiss:hover::before { background: color-mix(in srgb, var(--text) 14%, var(--under-dismiss, transparent)); }
.dismiss svg { inline-size: 1rem; block-size: 1rem; fill: none; stroke: currentcolor; stroke-width: 1.8; stroke-linecap: round; }
a:focus-visible, .dismiss:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
.image { position: relative; overflow: hidden; background: var(--empty); }
.image img { display: block; position: absolute; inset: 0; inline-size: 100%; block-size: 100%; object-fit: cover; }
.image picture { display: contents; }
.image .stretched-link { position: absolute; inset: 0; }
.image .stretched-link:focus-visible { outline-offset: -4px; }
@media (forced-colors: active) {
  .panel { border-color: CanvasText; }
  .action { border-color: LinkText; }
  .dismiss { color: ButtonText; }
  .dismiss::before { border-color: ButtonText; background: Canvas; }
  a:focus-visible, .dismiss:focus-visible { outline-color: Highlight; }
}
@media (prefers-contrast: more) {
  .panel { --muted: var(--text); --line: currentcolor; }
}
@media (prefers-reduced-motion: no-preference) {
  .dismiss::before { transition: background-color 120ms; }
}
`;
