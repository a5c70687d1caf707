import type { Diagnostics } from '../../src/client/index.ts';
import { node } from '../ui/node.ts';

/** The places where a captured event can be, in the order people read them. */
const PLACES: readonly (readonly [keyof Diagnostics & string, string])[] = [
  ['delivered', 'delivered'],
  ['pending', 'waiting'],
  ['inDoubt', 'in doubt'],
  ['deadLetters', 'kept aside'],
  ['discarded', 'discarded'],
  ['evicted', 'pushed out'],
  ['expired', 'expired'],
  ['purged', 'removed'],
];

const term = (count: number, name: string, className: string) =>
  node('span', { class: className }, [node('b', {}, [count]), ` ${name}`]);

/** The equation that always holds: every captured event is in exactly one place. */
export const ledger = (diagnostics: Diagnostics): HTMLElement => {
  const terms = PLACES.map(([place, name]) => [Number(diagnostics[place]), name] as const);
  const shown = terms.filter(([count], index) => count > 0 || index < 2);
  const sum = terms.reduce((total, [count]) => total + count, 0);
  return node('p', { class: 'ledger', 'data-holds': String(sum === diagnostics.captured) }, [
    term(diagnostics.captured, 'captured', 'ledger-all'),
    ...shown.flatMap(([count, name], index) => [
      node('span', { class: 'ledger-sign' }, [index === 0 ? '=' : '+']),
      term(count, name, `ledger-${name.replace(' ', '-')}`),
    ]),
  ]);
};

/** One sentence on how things stand. */
export const standing = (
  diagnostics: Diagnostics,
): { text: string; tone: 'good' | 'wait' | 'bad' | 'plain' } => {
  const waiting = diagnostics.pending + diagnostics.inDoubt;
  if (diagnostics.captured === 0) return { text: 'Nothing to send yet.', tone: 'plain' };
  if (waiting > 0) {
    return {
      text: waiting === 1 ? 'One event waits on this device.' : `${waiting} events wait on this device.`,
      tone: 'wait',
    };
  }
  if (diagnostics.deadLetters > 0) return { text: 'All sent but what was kept aside.', tone: 'bad' };
  return { text: 'Everything is delivered.', tone: 'good' };
};
