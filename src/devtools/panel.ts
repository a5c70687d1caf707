import type { Diagnostics, Inspection, Inspector, Placard } from '../client/index.ts';
import { createClientView } from './client-view.ts';
import { createEventsView } from './events-view.ts';
import type { History } from './history.ts';
import { createLogView } from './log-view.ts';
import { recall, remember } from './memory.ts';
import { node } from './node.ts';
import { PANEL_CSS } from './panel-css.ts';
import { createPlaceView } from './place-view.ts';
import { createPlacementsView } from './placements-view.ts';
import { createTabs } from './tabs.ts';
import { createWindow } from './window.ts';
import type { Sentence } from './words.ts';

/** Refresh interval in milliseconds. Polls, because visibility changes on scrolling cause no notice. */
const TICK_MS = 200;
/** Number of ticks between refreshes of the counters, which need a read of the outbox. */
const COUNT_EVERY_TICKS = 5;

interface PanelOptions {
  placard: Placard;
  /** `null` if the client could not load the inspector. */
  inspector: Inspector | null;
  history: History;
  container: HTMLElement | undefined;
  /** Aborted to close the panel. */
  signal: AbortSignal;
  /** Called by the close button. */
  close: () => void;
}

const NOT_LOADED = 'The inspector failed to load. Check in the network panel that all its chunks are served.';

/** Returns the reason that the inspector did not load, such as invalid options of the client. */
const whyNotLoaded = (history: History): string => {
  const notices = history.entries().map(({ notice }) => notice);
  const refused = notices.find((notice) => notice.type === 'failed' && notice.kind === 'config');
  return refused?.type === 'failed' ? refused.message : NOT_LOADED;
};

const describeState = ({ placements, sandbox }: Inspection, diagnostics: Diagnostics | null): Sentence => {
  if (sandbox.isOn) return { text: 'Sandbox is on', tone: 'wait' };
  const slots = placements.flatMap((placement) => placement.slots);
  const shown = slots.filter((slot) => slot.shown && !slot.shown.isControl).length;
  const waiting = (diagnostics?.pending ?? 0) + (diagnostics?.inDoubt ?? 0);
  const text = `${shown} of ${slots.length} shown${waiting > 0 ? `, ${waiting} to send` : ''}`;
  return { text, tone: waiting > 0 ? 'wait' : 'plain' };
};

/** Adopts the style sheet. A root accepts only sheets of its own document, and loses them when it moves to another document. */
const adoptStyles = (root: ShadowRoot): void => {
  const { CSSStyleSheet } = root.ownerDocument.defaultView!;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(PANEL_CSS);
  root.adoptedStyleSheets = [sheet];
};

/** Renders the panel into a shadow root until closed. A constructed sheet needs no exception in the page's CSP. */
export const openPanel = ({ placard, inspector, history, container, signal, close }: PanelOptions): void => {
  const host = document.createElement('placard-devtools');
  const root = host.attachShadow({ mode: 'open' });
  signal.addEventListener('abort', () => host.remove());

  const show = (content: readonly Node[]): ReturnType<typeof createWindow> | null => {
    if (container) {
      host.toggleAttribute('data-embedded', true);
      root.append(node('div', { class: 'embedded' }, [...content]));
      container.append(host);
      adoptStyles(root);
      return null;
    }
    const frame = createWindow(content, signal, close);
    root.append(frame.element);
    document.body.append(host);
    adoptStyles(root);
    return frame;
  };

  if (!inspector) {
    show([node('p', { class: 'nothing' }, [whyNotLoaded(history)])]);
    return;
  }
  history.addEarlier(inspector.read().recent);
  let tab = recall().tab;
  let diagnostics: Diagnostics | null = null;
  let frame: ReturnType<typeof show> = null;

  const draw = (): void => {
    if (signal.aborted) return;
    const inspection = inspector.read();
    frame?.summarise(describeState(inspection, diagnostics));
    if (frame?.isSmall()) {
      outline.hide();
      return;
    }
    const view = Object.entries(views).find(([name]) => name === tab)?.[1] ?? views.Placements;
    view.update({ inspection, diagnostics, history: history.entries(), now: Date.now() });
  };
  const count = async (): Promise<void> => {
    diagnostics = await placard.diagnostics();
    draw();
  };
  const changed = (): void => {
    draw();
    void count();
  };

  const placements = createPlacementsView(inspector, changed);
  const { outline } = placements;
  const place = createPlaceView({ host, outline });
  const views = {
    Placements: placements,
    Events: createEventsView(placard, inspector, changed),
    Log: createLogView(),
    Client: createClientView(),
    Selector: place,
  };
  const tabs = createTabs(
    Object.entries(views).map(([name, { element }]) => ({ name, content: element })),
    tab,
    (name) => {
      tab = name;
      remember({ tab });
      place.stop();
      draw();
    },
  );
  frame = show(tabs);
  root.append(outline.element);
  changed();

  let ticks = 0;
  let counted = history.version();
  const timer = setInterval(() => {
    if (document.visibilityState !== 'visible') return;
    ticks += 1;
    draw();
    // Changes in other tabs cause no notice here, so counters also refresh on a timer.
    if (counted === history.version() && ticks % COUNT_EVERY_TICKS > 0) return;
    counted = history.version();
    void count();
  }, TICK_MS);
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    place.stop();
    placements.stop();
  });
};
