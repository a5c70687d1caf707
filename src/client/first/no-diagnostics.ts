import type { Diagnostics } from '../delivery/index.ts';

/** The diagnostics of a client that has captured nothing: an inert one, and one whose late chunk could not be loaded. */
export const NO_DIAGNOSTICS: Diagnostics = {
  captured: 0,
  delivered: 0,
  pending: 0,
  inDoubt: 0,
  deadLetters: 0,
  discarded: 0,
  evicted: 0,
  expired: 0,
  purged: 0,
  memoryMode: false,
  sender: false,
  waitingUntil: null,
};
