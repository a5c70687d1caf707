import type { Diagnostics, Inspector, Placard } from '../client/index.ts';
import { countersOf, standingOf } from './counters.ts';
import { createDeadLetters } from './dead-letters.ts';
import { nextAttempt } from './next-attempt.ts';
import { node, setAttribute, setText } from './node.ts';
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
  const next = node('p', { class: 'next' });
  const counters = node('div', {});
  const letters = createDeadLetters(placard, changed);
  const sandbox = createSandboxSection(inspector, changed);
  const button = (label: string, act: () => Promise<unknown>) =>
    node('button', { type: 'button' }, [label], { click: () => void act().then(changed) });
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
    element: node('div', {}, [
      standing,
      next,
      counters,
      letters.element,
      node('div', { class: 'buttons' }, [
        button('Send now', () => placard.flush()),
        button('Ask for banners', () => placard.refresh()),
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
