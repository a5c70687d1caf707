import { relativeTime } from './duration.ts';
import type { PanelState } from './panel-state.ts';
import { WAITING } from './sentence.ts';

/** When the outbox sends next, and what it waits for. */
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
