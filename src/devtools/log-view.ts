import { COUNT_FIELDS } from '../protocol/index.ts';
import type { HistoryEntry } from './history.ts';
import { node } from './node.ts';
import type { PanelState } from './panel-state.ts';
import { clockTime, type Sentence } from './words.ts';

const DROPPED = {
  'max-attempts': 'kept as a dead letter: rejected too often',
  rejected: 'kept as a dead letter: rejected',
  discarded: 'discarded',
  evicted: 'evicted: storage is full',
  expired: 'dropped: it has expired',
  purged: 'purged by an opt-out or wipe',
} as const;
export const WAITING = {
  backoff: 'last attempt failed',
  'rate-limit': 'rate limited',
  offline: 'offline',
  unauthorized: 'API key rejected',
  'not-found': 'service not found',
} as const;
const HIDDEN = {
  none: 'no banner for this user',
  expired: 'banner expired',
  dismissed: 'banner dismissed',
  user: 'user changed',
  invalid: 'invalid banner',
  blocked: 'blocked by shouldShow()',
  control: 'user is in the control group',
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
      return sentence('plain', `Sync response: ${parts.join('; ') || 'no known placements'}.`);
    }
    case 'shown': {
      const { banner, from } = notice;
      const source = from === 'cache' ? 'from the cache' : 'from a sync';
      return sentence('good', `Rendered ${banner.placementId} ${source}.`);
    }
    case 'hidden':
      return sentence('plain', `Hid ${notice.placementId}: ${HIDDEN[notice.reason]}.`);
    case 'tracked': {
      const { type, placementId, buttonId } = notice.event;
      const button = buttonId ? ` (${buttonId})` : '';
      return sentence(
        'plain',
        `The banner in ${placementId} was ${type === 'impression' ? 'seen' : COUNT_FIELDS[type].users}${button}. Stored on this device.`,
      );
    }
    case 'delivered':
      return sentence('good', `${events(notice.events.length)} delivered.`);
    case 'rejected': {
      const { event, reason } = notice;
      const text = `The service rejected a ${event.type} (${reason}). It will be retried.`;
      return sentence('wait', text);
    }
    case 'in-doubt': {
      const text = `${events(notice.events.length)} in doubt: no response. The same batch will be resent.`;
      return sentence('wait', text);
    }
    case 'dropped':
      return sentence('bad', `A ${notice.event.type} was ${DROPPED[notice.reason]}.`);
    case 'paused':
      return sentence('wait', `Sending paused: ${WAITING[notice.reason]}. Events stay on this device.`);
    case 'memory-mode':
      return notice.on
        ? sentence('bad', 'Storage is unavailable. Events are kept in memory.')
        : sentence('good', 'Storage is available again.');
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
