/** Everything is set here: what the page inherits to its elements ends at the host. */
export const PANEL_CSS = /* css */ `
:host { all: initial; display: contents; }
:host([data-embedded]) { display: block; block-size: 100%; color-scheme: inherit; }
[hidden] { display: none !important; }
*, *::before, *::after { box-sizing: border-box; }
.window, .embedded, .outline {
  --surface: light-dark(#ffffff, #1b1c20);
  --raised: light-dark(#f5f5f3, #26272c);
  --ink: light-dark(#1c1c1a, #f1f1ee);
  --soft: light-dark(#5f5e5a, #aeadb0);
  --line: light-dark(#e0dfdb, #393a41);
  --good: light-dark(#18703f, #74d19a);
  --wait: light-dark(#8a5200, #f0b95c);
  --bad: light-dark(#b3261e, #ff9a90);
  --plain: light-dark(#6b6a66, #9b9aa0);
  --accent: light-dark(#3647c2, #a6b2ff);
  color: var(--ink);
  font: 400 0.8125rem/1.45 system-ui, sans-serif;
  text-align: start;
  overflow-wrap: anywhere;
}
.window {
  color-scheme: light dark;
  position: fixed;
  z-index: 2147483647;
  inset: auto 12px 12px auto;
  max-inline-size: calc(100vw - 8px);
  border: 1px solid var(--line);
  border-radius: 12px;
  background: var(--surface);
  box-shadow: 0 1px 2px rgb(0 0 0 / 0.12), 0 12px 40px rgb(0 0 0 / 0.22);
  overflow: hidden;
}
.whole {
  display: flex;
  flex-direction: column;
  inline-size: min(24rem, calc(100vw - 10px));
  block-size: min(36rem, calc(100vh - 10px));
}
@media (max-width: 30rem) {
  .whole { block-size: min(27rem, 62vh); }
}
.embedded { display: flex; flex-direction: column; min-block-size: 0; block-size: 100%; }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
button {
  min-block-size: 2rem;
  padding: 0.25rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: var(--surface);
  color: inherit;
  font: inherit;
  cursor: pointer;
}
button:hover { border-color: var(--soft); }
button[aria-pressed="true"] { border-color: var(--accent); background: var(--accent); color: var(--surface); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.bar { display: flex; flex: none; gap: 2px; padding: 4px 4px 0; }
.handle, .small, .icon { border-color: transparent; }
.handle, .small { display: flex; align-items: center; gap: 0.6rem; min-block-size: 2.25rem; font-weight: 650; text-align: start; white-space: nowrap; }
.handle { flex: 1; min-inline-size: 0; cursor: grab; touch-action: none; }
.handle:active { cursor: grabbing; }
.handle::before, .small::before {
  content: "";
  flex: none;
  inline-size: 8px;
  block-size: 14px;
  background: radial-gradient(circle, var(--soft) 1px, transparent 1.4px) 0 0 / 4px 4.67px;
}
.small::before { inline-size: 8px; block-size: 8px; border-radius: 50%; background: var(--good); }
.small:has([data-tone="wait"])::before { background: var(--wait); }
.summary { min-inline-size: 0; overflow: hidden; color: var(--soft); font-weight: 400; text-overflow: ellipsis; white-space: nowrap; }
.summary[data-tone="wait"] { color: var(--wait); }
.icon { position: relative; flex: none; inline-size: 2.25rem; padding: 0; }
.icon::before, .icon::after {
  content: "";
  position: absolute;
  inset: calc(50% - 0.75px) calc(50% - 6px);
  block-size: 1.5px;
  background: currentcolor;
}
[data-icon="close"]::before { transform: rotate(45deg); }
[data-icon="close"]::after { transform: rotate(-45deg); }
.tabs { display: flex; flex: none; gap: 2px; padding: 2px 8px 0; border-block-end: 1px solid var(--line); }
[role="tab"] {
  flex: auto;
  padding-inline: 0.5rem;
  white-space: nowrap;
  border: 0;
  border-block-end: 2px solid transparent;
  border-radius: 6px 6px 0 0;
  background: none;
  color: var(--soft);
}
[role="tab"]:hover { color: var(--ink); }
[role="tab"][aria-selected="true"] { border-color: var(--ink); color: var(--ink); font-weight: 650; }
.panels { flex: 1; min-block-size: 0; overflow-y: auto; overscroll-behavior: contain; }
[role="tabpanel"] { padding: 12px; }
[role="tabpanel"]:focus-visible { outline-offset: -2px; }
p, ul, ol, dl, dd { margin: 0; padding: 0; }
ul, ol { list-style: none; }
code, .placement, .facts-list dd { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 0.75rem; }
.nothing { padding: 1.5rem 1rem; color: var(--soft); text-align: center; }
.cards { display: grid; gap: 10px; }
.card { display: grid; gap: 6px; padding: 10px 12px; border: 1px solid var(--line); border-radius: 10px; }
.card:hover, .card:focus-within { border-color: var(--soft); }
.card-head { display: flex; align-items: baseline; justify-content: space-between; gap: 0.75rem; }
.placement { font-weight: 650; }
.chip { flex: none; display: inline-flex; align-items: center; gap: 0.4rem; color: var(--tone); font-weight: 650; }
.chip::before { content: ""; inline-size: 8px; block-size: 8px; border-radius: 50%; background: var(--tone); }
[data-tone="good"] { --tone: var(--good); }
[data-tone="wait"] { --tone: var(--wait); }
[data-tone="bad"] { --tone: var(--bad); }
[data-tone="plain"] { --tone: var(--plain); }
.card[data-tone="plain"] .chip::before { border: 2px solid var(--tone); background: none; }
.banner-name { font-size: 0.875rem; unicode-bidi: plaintext; }
.why, .facts, .next, .switch-help, time, summary { color: var(--soft); }
.facts, time, summary { font-size: 0.75rem; }
.facts::first-letter, summary::first-letter { text-transform: uppercase; }
.meter { position: relative; block-size: 10px; }
.meter::before { content: ""; position: absolute; inset: 0 0 4px; border-radius: 3px; background: var(--raised); }
.meter-share, .meter-dwell { position: absolute; inset-inline-start: 0; border-radius: 3px; }
.meter-share { inset-block: 0 4px; background: var(--wait); }
[data-enough] .meter-share { background: var(--good); }
.meter-dwell { inset-block: 8px 0; background: var(--accent); }
.meter-mark { position: absolute; inset-block: -1px 3px; inline-size: 2px; background: var(--ink); }
.buttons { display: flex; flex-wrap: wrap; gap: 6px; }
.card-foot { display: grid; grid-template-columns: minmax(0, 1fr) auto; }
.card-foot > * { grid-row: 1; }
details { grid-column: 1 / -1; }
.facts { align-self: center; }
.card-foot .buttons { grid-column: 2; align-self: start; z-index: 1; }
.card-foot button { min-block-size: 1.75rem; padding-block: 0; }
summary { inline-size: fit-content; max-inline-size: calc(100% - 8.5rem); padding-block: 0.25rem; }
.command { display: block; padding: 6px 8px; border-radius: 6px; background: var(--raised); user-select: all; }
summary { cursor: pointer; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 12px; }
details dl { margin-block-start: 6px; grid-template-columns: minmax(4rem, max-content) minmax(0, 1fr); }
dt { color: var(--soft); }
dt small { opacity: 0.8; }
[role="tabpanel"] > div { display: grid; gap: 12px; }
.standing { padding: 8px 12px; border-inline-start: 3px solid var(--tone, var(--line)); border-radius: 3px 8px 8px 3px; background: var(--raised); font-weight: 650; min-block-size: 2.25rem; }
.next { margin-block-start: -6px; }
.counters { color: var(--soft); font-variant-numeric: tabular-nums; min-block-size: 1.5rem; }
.counters b { color: var(--ink); font-size: 0.9375rem; }
[data-counter="delivered"] b { color: var(--good); }
[data-counter="pending"] b, [data-counter="inDoubt"] b { color: var(--wait); }
[data-counter="deadLetters"] b { color: var(--bad); }
.letters:empty { display: none; }
.letters { display: grid; gap: 8px; }
.letter { display: flex; flex-wrap: wrap; gap: 6px; padding: 8px 12px; border: 1px solid var(--bad); border-radius: 8px; }
.letter p { flex: 1 0 100%; }
.sandbox { padding-block-start: 4px; border-block-start: 1px solid var(--line); }
.switch {
  display: grid;
  grid-template-columns: minmax(0, 1fr) auto;
  align-items: center;
  column-gap: 1rem;
  inline-size: 100%;
  padding: 8px 0;
  border: 0;
  background: none;
  text-align: start;
}
.switch-label { font-weight: 650; }
.switch-help { grid-column: 1; }
.switch::after {
  content: "";
  grid-area: 1 / 2 / span 2;
  inline-size: 2.25rem;
  block-size: 1.375rem;
  border: 1px solid var(--soft);
  border-radius: 99px;
  background: radial-gradient(circle at 0.62rem 50%, var(--soft) 0.38rem, transparent 0.44rem);
}
.switch[aria-checked="true"]::after {
  border-color: var(--wait);
  background: radial-gradient(circle at calc(100% - 0.62rem) 50%, var(--surface) 0.38rem, transparent 0.44rem), var(--wait);
}
.lines li { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 10px; padding-block: 5px; border-block-end: 1px solid var(--line); }
.lines time { line-height: 1.6; font-variant-numeric: tabular-nums; }
.lines [data-tone] span { color: var(--tone); }
.lines [data-tone="plain"] span { color: inherit; }
.outline {
  color-scheme: light dark;
  position: fixed;
  z-index: 2147483646;
  border: 2px solid var(--accent);
  border-radius: 6px;
  background: color-mix(in srgb, var(--accent) 10%, transparent);
  pointer-events: none;
}
.outline-label { position: absolute; inset: auto auto 100% -2px; padding: 1px 6px; border-radius: 4px 4px 0 0; background: var(--accent); color: var(--surface); font-size: 0.75rem; white-space: nowrap; }
@media (pointer: coarse) {
  button, .card-foot button { min-block-size: 2.75rem; }
  .icon { inline-size: 2.75rem; }
  summary { padding-block: 0.75rem; }
}
@media (forced-colors: active) {
  .chip::before, .small::before, .meter-share, .meter-dwell, .meter-mark, .switch::after { forced-color-adjust: none; }
  .window, .embedded, .outline {
    --good: CanvasText; --wait: CanvasText; --bad: CanvasText; --plain: CanvasText; --accent: Highlight;
    --surface: Canvas; --raised: Canvas; --soft: CanvasText; --line: CanvasText; --ink: CanvasText;
  }
  .meter::before { border: 1px solid CanvasText; }
  button[aria-pressed="true"] { border: 2px solid Highlight; }
  [role="tab"] { border-color: Canvas; }
  [role="tab"][aria-selected="true"] { border-color: Highlight; }
  .icon::before, .icon::after { forced-color-adjust: none; background: ButtonText; }
  .handle::before { display: none; }
  .outline-label { forced-color-adjust: none; background: Highlight; color: HighlightText; }
}
`;
