import type { DeadLetter, Diagnostics, Inspector, Placard } from '../client/index.ts';
import { WAITING } from './log-view.ts';
import { button, node, setAttribute, setText } from './node.ts';
import type { PanelState } from './panel-state.ts';
import { clockTime, relativeTime, type Sentence } from './words.ts';

/** Event counters with labels, in display order. */
const COUNTERS: readonly (readonly [keyof Diagnostics & string, string])[] = [
  ['delivered', 'delivered'],
  ['pending', 'waiting'],
  ['inDoubt', 'in doubt'],
  ['deadLetters', 'kept aside'],
  ['discarded', 'discarded'],
  ['evicted', 'pushed out'],
  ['expired', 'expired'],
  ['purged', 'removed'],
];

const term = (count: number, counter: string, name: string) =>
  node('span', { 'data-counter': counter }, [node('b', {}, [String(count)]), ` ${name}`]);

/** Renders the counters: every captured event is in exactly one of them. */
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
  if (captured === 0) return { text: 'Nothing to send yet.', tone: 'plain' };
  if (waiting === 1) return { text: 'One event waits on this device.', tone: 'wait' };
  if (waiting > 0) return { text: `${waiting} events wait on this device.`, tone: 'wait' };
  if (deadLetters > 0) return { text: 'All is sent but what was kept aside.', tone: 'bad' };
  return { text: 'Everything is delivered.', tone: 'good' };
};

/** Returns when the outbox sends next, and what it waits for. */
export const nextAttempt = ({ inspection, diagnostics, history, now }: PanelState): string => {
  if (!diagnostics) return 'The outbox has not answered yet.';
  const { pending, inDoubt, waitingUntil, memoryMode } = diagnostics;
  const where = memoryMode ? ' They are in memory: the device’s storage cannot be used.' : '';
  if (pending + inDoubt === 0) return 'The next attempt goes with the next event.';
  if (!inspection.isActive) return `Nothing is sent without consent.${where}`;
  if (!navigator.onLine) return `The browser is offline. The next attempt goes when it is back.${where}`;
  if (waitingUntil === null || waitingUntil <= now) return `The next attempt goes in a moment.${where}`;
  const wait = [...history].reverse().find(({ notice }) => notice.type === 'waiting')?.notice;
  const reason = wait?.type === 'waiting' ? `: ${WAITING[wait.reason]}` : '';
  return `The next attempt goes ${relativeTime(waitingUntil, now)}${reason}.${where}`;
};

/** Creates the sandbox switch, which captures events without sending them, and its list. */
const createSandboxSection = (inspector: Inspector, changed: () => void) => {
  const toggle = (): void => {
    inspector.sandbox(!inspector.read().sandbox.isOn);
    changed();
  };
  const label = [node('b', {}, ['Sandbox']), node('span', {}, ['Take this page’s events, and send none'])];
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
  /** Card of a dead letter, to resend or discard. */
  const letterCard = ({ key, event, reason, attempts }: DeadLetter) =>
    node('li', { class: 'letter' }, [
      node('p', {}, [
        `Kept aside after ${attempts} attempts: a ${event.type} in ${event.placementId} (${reason}).`,
      ]),
      act('Send it again', () => placard.retryDeadLetters([key])),
      act('Discard it', () => placard.discardDeadLetters([key])),
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
