import type { Reason } from '../../protocol/index.ts';

/** A longer value is cut: the facts beside the sentence have all of it. */
const MAX_SHOWN_CHARACTERS = 160;

const json = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
};

const again = (at: string | null) => (at ? `it is shown again from ${at}` : 'it is not shown again');

type Texts = { [Name in Reason['outcome']]: (reason: Extract<Reason, { outcome: Name }>) => string };

const TEXTS: Texts = {
  shown: ({ variant_id, is_test_send }) =>
    `shows variant ${variant_id}${is_test_send ? ' as a test send' : ''}`,
  held_out: ({ bucket, control_percentage }) =>
    `shows nothing: the user is held out (bucket ${bucket}, control is below ${control_percentage})`,
  not_running: ({ status }) => `is ${status === 'draft' ? 'a draft' : status}`,
  out_of_time: ({ starts_at, ends_at }) =>
    `runs ${[starts_at && `from ${starts_at}`, ends_at && `until ${ends_at}`].filter(Boolean).join(' ')}`,
  not_in_audience: ({ clauses }) =>
    `the user is not in the audience: ${clauses
      .map(({ clause, expected, actual }) =>
        actual === undefined
          ? `${clause} does not hold: ${json(expected)}`
          : `${clause} expects ${json(expected)}, the user has ${actual === null ? 'nothing' : json(actual)}`,
      )
      .join('; ')}`,
  dismissed: ({ dismissed_at, again_at }) => `the user dismissed it at ${dismissed_at}; ${again(again_at)}`,
  capped: ({ limit, tag, max, count, again_at }) =>
    `the limit ${tag === undefined ? `frequency.${limit}` : `of the tag ${tag}`} is reached (${count} of ${max}); ${again(again_at)}`,
  outranked: ({ by }) => `campaign ${by} ranks higher`,
  unfilled: ({ property, problem }) =>
    property === null
      ? `cannot be filled in: ${problem}`
      : `the property ${property} cannot be filled in: ${problem}`,
};

/** A reason as a sentence for people, without its subject: the campaign. */
export const reasonText = <Name extends Reason['outcome']>(
  reason: Extract<Reason, { outcome: Name }>,
): string => (TEXTS[reason.outcome as Name] as (reason: Reason) => string)(reason);
