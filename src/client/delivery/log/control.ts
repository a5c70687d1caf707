import type { Choice } from '../../consent.ts';
import type { StoreKey } from '../../platform/store.ts';
import { isText, VERSION } from './records.ts';

export type WaitReason = 'backoff' | 'rate-limit' | 'offline' | 'unauthorized' | 'not-found';

/** Nothing may be sent before `until`. */
export interface Wait {
  until: number;
  reason: WaitReason;
}

/** Ways out of the log. What was captured is the sum of these and of what is still stored. */
export const TOTALS = ['delivered', 'discarded', 'evicted', 'expired', 'purged'] as const;
export type Total = (typeof TOTALS)[number];

/** Everything about the log that is not an event or a batch; read and written in the transactions that change them. */
export interface Control extends Record<Total, number> {
  v: typeof VERSION;
  /** Counts the changes: a decision that was made on an older state is made again. */
  revision: number;
  consent: Choice;
  /** When the user chose so, in Unix milliseconds; 0 where they never did. */
  chosenAt: number;
  /** The page that sends at the moment. */
  sender: { tab: string; until: number } | null;
  wait: Wait & {
    /** Refusals in a row. */
    failures: number;
    /** Ended early once already, by `online` or by the page being shown. */
    eased: boolean;
  };
  /** Fingerprint of the key that the server refused. */
  refusedKey: string | null;
  /** Fingerprints of the events that were batched lately: the service counts two that are the same as one. */
  batched: string[];
}

export const CONTROL_KEY: StoreKey = ['control', VERSION, 'meta'];

export const noWait = (): Control['wait'] => ({ until: 0, reason: 'backoff', failures: 0, eased: false });

export const newControl = (consent: Choice): Control => ({
  v: VERSION,
  revision: 0,
  consent,
  chosenAt: 0,
  sender: null,
  wait: noWait(),
  refusedKey: null,
  batched: [],
  delivered: 0,
  discarded: 0,
  evicted: 0,
  expired: 0,
  purged: 0,
});

const isChoice = (value: unknown): value is Choice =>
  ['enabled', 'disabled', 'draining'].includes(value as string);

/** Reads what can be read of a stored record, member by member; the rest is as in a new one, with the choice `consent`. */
export const readControl = (record: unknown, consent: Choice): Control => {
  const control = newControl(consent);
  const stored: Partial<Control> = Object(record);
  const numbers = ['revision', 'chosenAt', ...TOTALS] as const;
  for (const name of numbers) if (Number.isFinite(stored[name])) control[name] = stored[name]!;
  if (isChoice(stored.consent)) control.consent = stored.consent;
  if (isText(stored.sender?.tab)) control.sender = stored.sender;
  if (Number.isFinite(stored.wait?.until) && Number.isFinite(stored.wait!.failures))
    control.wait = stored.wait!;
  if (isText(stored.refusedKey)) control.refusedKey = stored.refusedKey;
  if (Array.isArray(stored.batched)) control.batched = stored.batched;
  return control;
};
