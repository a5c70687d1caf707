import type { DeadLetter, Diagnostics, Inspector, Placard } from '../client/index.ts';
import { WAITING } from './log-view.ts';
import { button, node, setAttribute, setText } from './node.ts';
import type { PanelState } from './panel-state.ts';
import { clockTime, relativeTime, type Sentence } from './words.ts';

/** Event counters with labels, in display order. */
const COUNTERS: readonly (readonly [keyof Diagnostics & string, string])[] = [
  ['delivered', 'delivered'],
  ['pending', 'pending'],
  ['inDoubt', 'in doubt'],
  ['deadLetters', 'dead letters'],
  ['discarded', 'discarded'],
  ['evicted', 'evicted'],
  ['expired', 'expired'],
  ['purged', 'purged'],
];

const term = (count: number, counter: string, name: string) =>
  node('span', { 'data-counter': counter }, [node('b', {}, [String(count)]), ` ${name}`]);

/** Renders the counters. Every captured event is in exactly one counter. */
export const createCounters = (diagnostics: Diagnostics): HTMLElement => {
  const terms = COUNTERS.map(([counter, name]) => ({ counter, name, count: Number(diagnostics[counter]) }));
  const shown = terms.filter(({ count }, index) => count > 0 || index < 2);
  const sum = terms.reduce((total, { count }) => total + count, 0);
  return node('p', { class: 'counters', 'data-holds': String(sum === diagnostics.captured) }, [
    term(diagnostics.captured, 'captured', 'captured'),
    ...shown.flatMap(({ count, counter, name }, index) => [
      index === 0 ? ' = ' : ' + ',
      term(count, counter, name),
    ]),
  ]);
};

/** Returns a one-sentence summary of the outbox. */
export const describeQueue = ({ captured, pending, inDoubt, deadLetters }: Diagnostics): Sentence => {
  const waiting = pending + inDoubt;
  if (captured === 0) return { text: 'No events yet.', tone: 'plain' };
  if (waiting === 1) return { text: 'One event pending.', tone: 'wait' };
  if (waiting > 0) return { text: `${waiting} events pending.`, tone: 'wait' };
  if (deadLetters > 0) return { text: 'All sent, except dead letters.', tone: 'bad' };
  return { text: 'All events delivered.', tone: 'good' };
};

/** Returns a sentence on the next send of the outbox and its reason to wait. */
export const nextAttempt = ({ inspection, diagnostics, history, now }: PanelState): string => {
  if (!diagnostics) return 'Loading the outbox…';
  const { pending, inDoubt, pausedUntil, memoryMode } = diagnostics;
  const where = memoryMode ? ' Storage is unavailable; events are in memory.' : '';
  if (pending + inDoubt === 0) return 'Next attempt with the next event.';
  if (!inspection.isActive) return `Nothing is sent without consent.${where}`;
  if (!navigator.onLine) return `Offline. Next attempt once online.${where}`;
  if (pausedUntil === null || pausedUntil <= now) return `Next attempt in a moment.${where}`;
  const wait = [...history].reverse().find(({ notice }) => notice.type === 'paused')?.notice;
  const reason = wait?.type === 'paused' ? ` (${WAITING[wait.reason]})` : '';
  return `Next attempt ${relativeTime(pausedUntil, now)}${reason}.${where}`;
};

/** Creates the sandbox switch and the list of its events, which are captured but not sent. */
const createSandboxSection = (inspector: Inspector, changed: () => void) => {
  const toggle = (): void => {
    inspector.setSandbox(!inspector.read().sandbox.isOn);
    changed();
  };
  const label = [node('b', {}, ['Sandbox']), node('span', {}, ['Capture events without sending them'])];
  const control = button(label, toggle, { role: 'switch', class: 'switch', 'aria-checked': 'false' });
  const list = node('ol', { class: 'lines' });
  let drawn = '';
  return {
    element: node('div', {}, [control, list]),
    update({ inspection: { sandbox } }: PanelState): void {
      setAttribute(control, 'aria-checked', String(sandbox.isOn));
      const state = JSON.stringify(sandbox.events);
      if (state === drawn) return;
      drawn = state;
      const lines = sandbox.events.map(({ type, placementId, time }) =>
        node('li', { 'data-taken': type }, [
          node('time', {}, [clockTime(time)]),
          node('span', {}, [`${type} in ${placementId}, not sent`]),
        ]),
      );
      list.replaceChildren(...lines.reverse());
    },
  };
};

/** Creates the view of event counters, the next attempt and dead letters. */
export const createEventsView = (placard: Placard, inspector: Inspector, changed: () => void) => {
  const standing = node('p', { class: 'standing', role: 'status' });
  const next = node('p', { class: 'why' });
  const counters = node('div', {});
  const letters = node('ul', { class: 'cards' });
  const sandbox = createSandboxSection(inspector, changed);
  const act = (label: string, work: () => Promise<unknown>) =>
    button([label], () => void work().then(changed));
  /** Creates the card of a dead letter, with buttons to resend or discard it. */
  const letterCard = ({ key, event, reason, attempts }: DeadLetter) =>
    node('li', { class: 'letter' }, [
      node('p', {}, [
        `Dead letter after ${attempts} attempts: ${event.type} in ${event.placementId} (${reason}).`,
      ]),
      act('Retry', () => placard.retryDeadLetters([key])),
      act('Discard', () => placard.discardDeadLetters([key])),
    ]);
  let drawn = '';

  const drawCounters = async (diagnostics: Diagnostics): Promise<void> => {
    const state = JSON.stringify(diagnostics);
    if (state === drawn) return;
    drawn = state;
    const { text, tone } = describeQueue(diagnostics);
    setText(standing, text);
    setAttribute(standing, 'data-tone', tone);
    counters.replaceChildren(createCounters(diagnostics));
    letters.replaceChildren(...(await placard.deadLetters()).map(letterCard));
  };

  return {
    element: node('div', { class: 'view' }, [
      standing,
      next,
      counters,
      letters,
      node('div', { class: 'buttons' }, [
        act('Send now', () => placard.flush()),
        act('Sync now', () => placard.refresh()),
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
