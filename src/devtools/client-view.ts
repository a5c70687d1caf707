import { node } from './node.ts';
import type { PanelState } from './panel-state.ts';
import { clockTime, relativeTime } from './words.ts';

const clockSkew = (ms: number): string =>
  ms === 0
    ? 'in sync'
    : `${Math.abs(Math.round(ms / 1_000))} s ${ms > 0 ? 'behind' : 'ahead of'} the service`;

/** Labels whose values are shown as code, because users compare and copy them. */
const CODES = new Set(['User', 'Service', 'Session']);

const getFacts = ({ inspection, diagnostics, now }: PanelState): [string, string][] => {
  const { session, syncWaitsUntil } = inspection;
  const sessionFacts: [string, string][] = session
    ? [
        ['Session ends', `${relativeTime(session.endsAt, now)}, unless the page is viewed`],
        ['Refreshes left', String(session.refreshesLeft)],
      ]
    : [];
  return [
    ['User', inspection.userId ?? 'signed out'],
    ['Consent', inspection.isActive ? 'given' : 'not given, or client stopped'],
    ['App', `${inspection.appId}, version ${inspection.appVersion}`],
    ['Service', inspection.endpoint],
    ['Next sync', syncWaitsUntil === null ? 'on demand' : `not before ${clockTime(syncWaitsUntil)}`],
    ['Session', session ? session.id : 'none yet'],
    ...sessionFacts,
    ['Clock', clockSkew(inspection.clockSkewMs)],
    ['Storage', diagnostics?.memoryMode ? 'memory, lost on page exit' : 'IndexedDB'],
    ['Sender', diagnostics?.isLeader ? 'this tab' : 'another tab, or none if nothing is pending'],
  ];
};

/** Creates the view of the client: user, service and session. */
export const createClientView = () => {
  const element = node('dl', { class: 'client' });
  let drawn = '';
  return {
    element,
    update(state: PanelState): void {
      const facts = getFacts(state);
      const text = JSON.stringify(facts);
      if (text === drawn) return;
      drawn = text;
      element.replaceChildren(
        ...facts.flatMap(([name, value]) => [
          node('dt', {}, [name]),
          node('dd', {}, [CODES.has(name) ? node('code', {}, [value]) : value]),
        ]),
      );
    },
  };
};
