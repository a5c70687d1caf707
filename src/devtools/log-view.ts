import type { HistoryEntry } from './history.ts';
import { node } from './node.ts';
import type { PanelState } from './panel-state.ts';
import { clockTime, type Sentence } from './words.ts';

const VERBS = { impression: 'seen', click: 'clicked', dismiss: 'dismissed' } as const;
const DROPPED = {
  attempts: 'kept aside: the service skipped it too often',
  rejected: 'kept aside: the service refused it',
  discarded: 'discarded',
  evicted: 'pushed out: the store is full',
  expired: 'given up: it is too old to send',
  purged: 'removed by an opt-out or a wipe',
} as const;
export const WAITING = {
  backoff: 'the last attempt failed',
  'rate-limit': 'the service asked for patience',
  offline: 'there is no network',
  unauthorized: 'the key was refused',
  'not-found': 'the service is not there',
} as const;
const EMPTIED = {
  none: 'no banner for this user',
  expired: 'its banner has expired',
  dismissed: 'its banner was dismissed',
  user: 'the user changed',
  invalid: 'its banner does not fit',
  held: 'mayShow() keeps its banner away',
  control: 'the user is in the control group, which sees nothing and is counted',
} as const;

const events = (count: number) => (count === 1 ? 'One event' : `${count} events`);
const sentence = (tone: Sentence['tone'], text: string): Sentence => ({ tone, text });

/** Describes a notice in a sentence. */
export const describeNotice = (notice: HistoryEntry['notice']): Sentence => {
  switch (notice.type) {
    case 'synced': {
      const withOne = notice.placements.filter((id) => notice.banners[id]);
      const without = notice.placements.filter((id) => !notice.banners[id]);
      const parts = [
        ...(withOne.length > 0 ? [`a banner for ${withOne.join(', ')}`] : []),
        ...(without.length > 0 ? [`none for ${without.join(', ')}`] : []),
      ];
      return sentence('plain', `The service answered: ${parts.join('; ') || 'no placement that it knows'}.`);
    }
    case 'shown': {
      const { banner, from } = notice;
      const source =
        from === 'cache' ? 'from the cache, before any request' : 'with what the service had sent';
      return sentence('good', `Drew ${banner.placementId} ${source}.`);
    }
    case 'emptied':
      return sentence('plain', `Left ${notice.placementId} empty: ${EMPTIED[notice.reason]}.`);
    case 'tracked': {
      const { type, placementId } = notice.event;
      return sentence('plain', `The banner in ${placementId} was ${VERBS[type]}. Stored on this device.`);
    }
    case 'delivered':
      return sentence('good', `${events(notice.events.length)} delivered.`);
    case 'skipped': {
      const { event, reason } = notice;
      const text = `The service skipped a ${event.type} (${reason}). It goes again, one attempt older.`;
      return sentence('wait', text);
    }
    case 'in-doubt': {
      const text = `${events(notice.events.length)} sent without an answer: in doubt, sent again exactly as before.`;
      return sentence('wait', text);
    }
    case 'dropped':
      return sentence('bad', `A ${notice.event.type} was ${DROPPED[notice.reason]}.`);
    case 'waiting':
      return sentence('wait', `Waits, because ${WAITING[notice.reason]}. Events stay on this device.`);
    case 'memory-mode':
      return notice.on
        ? sentence('bad', 'The device’s storage cannot be used. Events live as long as this page.')
        : sentence('good', 'The device’s storage is back.');
    case 'consent':
      return sentence('plain', `Consent is ${notice.state}.`);
    case 'failed':
      return sentence('bad', `${notice.message.replace(/\.$/, '')}.`);
  }
};

const line = ({ at, notice }: HistoryEntry): HTMLElement => {
  const { text, tone } = describeNotice(notice);
  return node('li', { 'data-tone': tone, 'data-notice': notice.type }, [
    node('time', {}, [clockTime(at)]),
    node('span', { dir: 'auto' }, [text]),
  ]);
};

/** Creates the view of notices, newest first. */
export const createLogView = () => {
  const element = node('ol', { class: 'lines' });
  let drawn: readonly HistoryEntry[] = [];
  return {
    element,
    update({ history }: PanelState): void {
      if (history === drawn) return;
      drawn = history;
      element.replaceChildren(...history.map(line).reverse());
    },
  };
};
