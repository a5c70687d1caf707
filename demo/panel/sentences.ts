import type { Notice } from '../../src/client/index.ts';

export interface Sentence {
  text: string;
  tone: 'plain' | 'good' | 'wait' | 'bad';
}

const VERBS = { impression: 'seen', click: 'clicked', dismiss: 'dismissed' } as const;
const DROPPED: Record<string, string> = {
  attempts: 'kept aside: the service refused it too often',
  rejected: 'kept aside: the service refused it',
  discarded: 'discarded by you',
  evicted: 'pushed out: the store is full',
  expired: 'too old to send',
  purged: 'removed with everything else',
};
const WAITING: Record<string, string> = {
  backoff: 'The last attempt failed',
  'rate-limit': 'The service asked for patience',
  offline: 'There is no network',
  unauthorized: 'The key was refused',
  'not-found': 'The service is not there',
};
const EMPTIED: Record<string, string> = {
  none: 'no banner for this visitor',
  expired: 'its banner has expired',
  dismissed: 'its banner was dismissed',
  user: 'the visitor changed',
  invalid: 'its banner does not fit',
  control: 'the visitor is in the control group, which sees nothing and is counted',
};

const FAILED: Record<string, string> = {
  sync: 'Asking for banners failed',
  budget: 'Asked too often',
  deliver: 'Sending failed',
  unauthorized: 'The key was refused',
  storage: 'The device’s storage failed',
  hook: 'A banner could not be drawn',
};

const events = (count: number) => (count === 1 ? 'One event' : `${count} events`);
const place = (placementId: string) => placementId.replaceAll('_', ' ');

/** What happened, in plain words. */
export const sentence = (notice: Exclude<Notice, { type: 'changed' }>): Sentence => {
  switch (notice.type) {
    case 'synced':
      return { text: `Asked for banners: ${notice.placements.map(place).join(', ')}.`, tone: 'plain' };
    case 'shown':
      return {
        text:
          notice.from === 'cache'
            ? `Drew ${place(notice.banner.placementId)} from the cache, before any request.`
            : `Drew ${place(notice.banner.placementId)} with what the service had sent.`,
        tone: 'good',
      };
    case 'emptied':
      return {
        text: `Left ${place(notice.placementId)} empty: ${EMPTIED[notice.reason] ?? notice.reason}.`,
        tone: 'plain',
      };
    case 'tracked':
      return {
        text: `The banner in ${place(notice.event.placementId)} was ${VERBS[notice.event.type]}. Stored on this device.`,
        tone: 'plain',
      };
    case 'delivered':
      return { text: `${events(notice.events.length)} delivered.`, tone: 'good' };
    case 'skipped':
      return {
        text: `The service skipped an event (${notice.reason}). It goes again, one attempt older.`,
        tone: 'wait',
      };
    case 'in-doubt':
      return {
        text: `${events(notice.events.length)} sent without an answer: in doubt, sent again exactly as before.`,
        tone: 'wait',
      };
    case 'dropped':
      return { text: `An event was ${DROPPED[notice.reason] ?? notice.reason}.`, tone: 'bad' };
    case 'waiting':
      return { text: `${WAITING[notice.reason] ?? 'Waiting'}. Events stay on this device.`, tone: 'wait' };
    case 'memory-mode':
      return notice.on
        ? { text: 'The device’s storage cannot be used. Events live as long as this page.', tone: 'bad' }
        : { text: 'The device’s storage is back.', tone: 'good' };
    case 'consent':
      return { text: `Consent is ${notice.state}.`, tone: 'plain' };
    case 'failed':
      return {
        text: `${FAILED[notice.kind] ?? 'Something is wrong'}: ${notice.message.replace(/\.$/, '')}.`,
        tone: 'bad',
      };
  }
};
