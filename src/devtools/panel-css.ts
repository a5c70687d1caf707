/** Styles of the panel. `all: initial` resets the values that the host would inherit from the page. */
export const PANEL_CSS = /* css */ `
:host { all: initial; display: contents; direction: ltr; }
:host([data-embedded]) { display: block; height: 100%; color-scheme: inherit; }
[hidden] { display: none !important; }
*, *::before, *::after { box-sizing: border-box; margin: 0; padding: 0; }
ul, ol { list-style: none; }
.window, .embedded, .outline {
  --surface: light-dark(#fff, #1b1c20);
  --ink: light-dark(#1c1c1a, #f1f1ee);
  --soft: light-dark(#5f5e5a, #aeadb0);
  --line: color-mix(in srgb, var(--ink) 15%, transparent);
  --raised: color-mix(in srgb, var(--ink) 6%, transparent);
  --good: light-dark(#18703f, #74d19a);
  --wait: light-dark(#8a5200, #f0b95c);
  --bad: light-dark(#b3261e, #ff9a90);
  --accent: light-dark(#3647c2, #a6b2ff);
  color: var(--ink);
  font: 400 0.8125rem/1.45 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
.window, .outline { color-scheme: light dark; position: fixed; z-index: 2147483647; }
.window {
  right: 12px;
  bottom: 12px;
  border: 1px solid var(--line);
  border-radius: 12px;
  background: var(--surface);
  box-shadow: 0 1px 2px rgb(0 0 0 / 0.12), 0 12px 40px rgb(0 0 0 / 0.22);
  overflow: hidden;
}
.whole, .embedded { display: flex; flex-direction: column; height: 100%; }
.whole { width: min(24rem, calc(100vw - 10px)); height: min(36rem, calc(100vh - 10px)); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
button {
  min-height: 2rem;
  padding: 0 12px;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: var(--surface);
  color: inherit;
  font: inherit;
  cursor: pointer;
}
button:hover, .card:hover, .card:focus-within { border-color: var(--soft); }
button[aria-pressed="true"] { border-color: var(--accent); background: var(--accent); color: var(--surface); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: -1px; }
.bar, .handle, .small, .tabs { display: flex; align-items: center; gap: 8px; }
.bar { gap: 2px; padding: 4px 4px 0; }
.handle, .small, .icon { min-height: 2.25rem; border-color: transparent; font-weight: 650; text-align: start; white-space: nowrap; }
.handle { flex: 1; min-width: 0; cursor: grab; touch-action: none; }
.handle::before { content: ""; flex: none; width: 8px; height: 14px; background: radial-gradient(circle, var(--soft) 1px, transparent 1.4px) 0 0 / 4px 4.67px; }
.chip::before, .small::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--tone); }
.summary { overflow: hidden; color: var(--tone); font-weight: 400; text-overflow: ellipsis; }
.icon { position: relative; flex: none; width: 2.25rem; }
.icon::before, .icon::after { content: ""; position: absolute; inset: calc(50% - 0.75px) calc(50% - 6px); height: 1.5px; background: currentcolor; }
[data-icon="close"]::before { transform: rotate(45deg); }
[data-icon="close"]::after { transform: rotate(-45deg); }
.tabs { flex-wrap: wrap; gap: 2px; padding: 2px 8px 0; border-bottom: 1px solid var(--line); }
[role="tab"] { flex: auto; padding: 0 5px; white-space: nowrap; border: 0; border-bottom: 2px solid transparent; border-radius: 6px 6px 0 0; background: none; color: var(--soft); }
[role="tab"][aria-selected="true"] { border-color: var(--ink); color: var(--ink); font-weight: 650; }
.panels { flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; }
[role="tabpanel"], .whole > .nothing, .embedded > .nothing { padding: 12px; }
.cards, .view { display: grid; gap: 12px; }
.card { display: grid; gap: 6px; padding: 10px 12px; border: 1px solid var(--line); border-radius: 10px; }
.card-head, .card-foot { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 12px; align-items: baseline; }
code, pre, .placement { font: 0.75rem ui-monospace, Menlo, Consolas, monospace; }
.placement, .chip, .standing, .switch b { font-weight: 650; }
.chip { color: var(--tone, var(--soft)); }
.chip::before { display: inline-block; margin-right: 7px; }
.card[data-tone="plain"] .chip::before { border: 2px solid var(--tone); background: none; }
[data-tone] { --tone: var(--soft); }
[data-tone="good"] { --tone: var(--good); }
[data-tone="wait"] { --tone: var(--wait); }
[data-tone="bad"] { --tone: var(--bad); }
.why, .facts, .counters, .nothing, .switch, time, summary, dt { color: var(--soft); }
.facts, time, summary { font-size: 0.75rem; }
.facts::first-letter, summary::first-letter { text-transform: uppercase; }
.meter { position: relative; height: 10px; border-bottom: 4px solid transparent; border-radius: 3px; background: var(--raised) padding-box; }
.meter * { position: absolute; border-radius: 3px; }
.meter-share { height: 6px; background: var(--wait); }
[data-enough] .meter-share { background: var(--good); }
.meter-dwell { top: 8px; height: 2px; background: var(--accent); }
.meter-mark { top: -1px; width: 2px; height: 8px; background: var(--ink); }
.buttons { display: flex; flex-wrap: wrap; gap: 6px; }
.card-foot > * { grid-row: 1; }
.card-foot details { grid-column: 1 / 3; }
.card-foot .buttons { grid-column: 2; z-index: 1; }
.card-foot button { min-height: 1.75rem; }
summary { width: fit-content; max-width: calc(100% - 8.5rem); padding: 5px 0; cursor: pointer; }
.command { padding: 6px 8px; border: 1px solid transparent; border-radius: 6px; background: var(--raised); user-select: all; }
dl { display: grid; align-items: baseline; grid-template-columns: minmax(4rem, max-content) minmax(0, 1fr); gap: 4px 12px; }
.standing { display: grid; align-content: center; min-height: 2.25rem; padding: 8px 12px; border-left: 3px solid var(--tone); border-radius: 3px 8px 8px 3px; background: var(--raised); }
.view > :empty { display: none; }
label { display: grid; gap: 4px; }
input, select { min-height: 2rem; width: 100%; padding: 0 8px; border: 1px solid var(--soft); border-radius: 6px; background: var(--surface); color: inherit; font: inherit; }
.command { white-space: pre-wrap; }
.counters b { color: var(--ink); font-size: 0.9375rem; }
.letter { display: grid; gap: 6px; padding: 8px 12px; border: 1px solid var(--bad); border-radius: 8px; }
.switch { display: grid; grid-template-columns: minmax(0, 1fr) auto; width: 100%; padding: 8px 0; border: 0; border-top: 1px solid var(--line); border-radius: 0; background: none; text-align: start; }
.switch b { color: var(--ink); }
.switch span { grid-column: 1; }
.switch::after { content: ""; grid-area: 1 / 2 / span 2; align-self: center; width: 36px; height: 22px; border: 1px solid; border-radius: 99px; background: radial-gradient(circle at 10px, currentcolor 6px, transparent 7px); }
.switch[aria-checked="true"]::after { color: var(--wait); background: radial-gradient(circle at 24px, var(--surface) 6px, var(--wait) 7px); }
.lines li { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 10px; align-items: baseline; padding: 5px 0; border-bottom: 1px solid var(--line); }
.lines [data-tone]:not([data-tone="plain"]) span { color: var(--tone); }
.outline { z-index: 2147483646; border: 2px solid var(--accent); border-radius: 6px; background: color-mix(in srgb, var(--accent) 10%, transparent); pointer-events: none; }
.outline span { position: absolute; bottom: 100%; left: -2px; padding: 1px 6px; background: var(--accent); color: var(--surface); font-size: 0.75rem; white-space: nowrap; }
@media (max-width: 30rem) {
  .whole { height: min(27rem, 62vh); }
}
@media (pointer: coarse) {
  button, .card-foot button, input, select { min-height: 2.75rem; }
  .icon { width: 2.75rem; }
  summary { padding: 0.75rem 0; }
}
@media (forced-colors: active) {
  .window, .embedded, .outline { --ink: CanvasText; --soft: CanvasText; --line: CanvasText; --good: CanvasText; --wait: CanvasText; --bad: CanvasText; --accent: Highlight; --surface: Canvas; }
  .handle::before, .chip::before, .small::before, .icon::before, .icon::after, .meter *, .switch::after, .outline span { forced-color-adjust: none; }
  .handle { border-color: Canvas; }
  [data-enough] .meter-mark { background: Canvas; }
  .meter { border-top: 1px solid; border-bottom-color: Canvas; }
  [role="tab"] { border-color: Canvas; }
  [role="tab"][aria-selected="true"], button[aria-pressed="true"] { border-color: Highlight; }
}
`;
