import type { Diagnostics, Inspector, Placard } from '../client/index.ts';
import { countersOf, standingOf } from './counters.ts';
import { createDeadLetters } from './dead-letters.ts';
import { nextAttempt } from './next-attempt.ts';
import { button, node, setAttribute, setText } from './node.ts';
import type { PanelState } from './panel-state.ts';
import { createSandboxSection } from './sandbox-section.ts';

interface EventsViewOptions {
  placard: Placard;
  inspector: Inspector;
  changed: () => void;
}

/** Where every event is, when the next attempt is, and what was kept aside. */
export const createEventsView = ({ placard, inspector, changed }: EventsViewOptions) => {
  const standing = node('p', { class: 'standing', role: 'status' });
  const next = node('p', { class: 'why' });
  const counters = node('div', {});
  const letters = createDeadLetters(placard, changed);
  const sandbox = createSandboxSection(inspector, changed);
  const act = (label: string, work: () => Promise<unknown>) =>
    button([label], () => void work().then(changed));
  let drawn = '';

  const drawCounters = async (diagnostics: Diagnostics): Promise<void> => {
    const state = JSON.stringify(diagnostics);
    if (state === drawn) return;
    drawn = state;
    const { text, tone } = standingOf(diagnostics);
    setText(standing, text);
    setAttribute(standing, 'data-tone', tone);
    counters.replaceChildren(countersOf(diagnostics));
    letters.draw(await placard.deadLetters());
  };

  return {
    element: node('div', { class: 'view' }, [
      standing,
      next,
      counters,
      letters.element,
      node('div', { class: 'buttons' }, [
        act('Send now', () => placard.flush()),
        act('Ask for banners', () => placard.refresh()),
      ]),
      sandbox.element,
    ]),
    update(state: PanelState): void {
      setText(next, nextAttempt(state));
      sandbox.update(state);
      if (state.diagnostics) void drawCounters(state.diagnostics);
    },
  };
};
