import type { Diagnostics } from '../client/index.ts';
import { node } from './node.ts';
import type { Sentence } from './tone.ts';

/** Where a captured event can be, in the order people read them, and how they call it. */
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

/** The equation that always holds: every captured event is in exactly one place. */
export const countersOf = (diagnostics: Diagnostics): HTMLElement => {
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

/** One sentence on how the outbox stands. */
export const standingOf = ({ captured, pending, inDoubt, deadLetters }: Diagnostics): Sentence => {
  const waiting = pending + inDoubt;
  if (captured === 0) return { text: 'Nothing to send yet.', tone: 'plain' };
  if (waiting === 1) return { text: 'One event waits on this device.', tone: 'wait' };
  if (waiting > 0) return { text: `${waiting} events wait on this device.`, tone: 'wait' };
  if (deadLetters > 0) return { text: 'All is sent but what was kept aside.', tone: 'bad' };
  return { text: 'Everything is delivered.', tone: 'good' };
};
