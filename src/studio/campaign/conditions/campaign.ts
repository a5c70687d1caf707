import { getKeys } from '../../../protocol/index.ts';
import { type ConditionKind, choices, formatValue, onlyEntry } from './condition-kind.ts';

/** Filter fields and descriptions of actions on campaigns. */
const ACTIONS = {
  saw: { count: 'impressions', days: 'last_impression_days_ago' },
  clicked: { count: 'clicks', days: 'last_click_days_ago' },
  dismissed: { count: 'dismissals', days: 'last_dismissal_days_ago' },
  'converted in': { count: 'conversions', days: 'last_conversion_days_ago' },
} as const;
type Action = keyof typeof ACTIONS;
const ACTION_NAMES = getKeys(ACTIONS);

/** Action of a user in another campaign, or its absence, within `withinDays` (`null` for any time). */
export interface CampaignCondition {
  kind: 'campaign';
  id: string;
  action: Action;
  hasDone: boolean;
  withinDays: number | null;
}

/** Returns the operand, such as 7 for `{ "$lte": 7 }`. */
const parseDays = (raw: unknown): number | null => {
  const [operator, days] = onlyEntry(raw) ?? [];
  return operator === '$lte' && typeof days === 'number' ? days : null;
};

const readField = (name: string, raw: unknown): CampaignCondition | null => {
  const [, id = '', field, ...rest] = name.split('.');
  const action = ACTION_NAMES.find((each) => Object.values(ACTIONS[each]).some((own) => own === field));
  if (!action || rest.length > 0) return null;
  const [operator, operand] = onlyEntry(raw) ?? [];
  const condition = { kind: 'campaign', id, action, withinDays: null } as const;
  if (field === ACTIONS[action].count) {
    return operator === '$exists' && typeof operand === 'boolean' ? { ...condition, hasDone: operand } : null;
  }
  const hasDone = operator !== '$not';
  const withinDays = parseDays(hasDone ? raw : operand);
  return withinDays === null ? null : { ...condition, hasDone, withinDays };
};

export const campaign: ConditionKind<CampaignCondition> = {
  label: 'Campaign',
  blank: () => ({ kind: 'campaign', id: '', action: 'saw', hasDone: true, withinDays: null }),
  read: (name, filter) => {
    if (!name.startsWith('campaigns.')) return name === 'campaigns' ? 'unsaid' : null;
    const result = readField(name, filter[name]);
    return result ? { result, names: [name] } : 'unsaid';
  },
  write: ({ id, action, hasDone, withinDays }) => {
    const { count, days } = ACTIONS[action];
    if (withinDays === null) return { [`campaigns.${id}.${count}`]: { $exists: hasDone } };
    const isWithin = { $lte: withinDays };
    return { [`campaigns.${id}.${days}`]: hasDone ? isWithin : { $not: isWithin } };
  },
  words: (name, filter, getName) => {
    if (!name.startsWith('campaigns.')) return null;
    const condition = readField(name, filter[name]);
    if (!condition) return { result: [`${name} ${formatValue(filter[name])}`], names: [name] };
    const { id, action, hasDone, withinDays } = condition;
    const lately =
      withinDays === null ? '' : ` in the last ${withinDays === 1 ? 'day' : `${withinDays} days`}`;
    return {
      result: [`${hasDone ? '' : 'not: '}${action} campaign “${getName('campaign', id)}”${lately}`],
      names: [name],
    };
  },
  isComplete: ({ id }) => id !== '',
  isUnknown: () => false,
  controls: (condition, { campaigns }) => [
    {
      label: 'Users who',
      type: 'select',
      value: `${condition.hasDone} ${condition.action}`,
      options: [true, false].flatMap((hasDone) =>
        ACTION_NAMES.map((action) => ({
          value: `${hasDone} ${action}`,
          name: hasDone ? action : `not: ${action}`,
        })),
      ),
      onChoose: (chosen) => ({
        ...condition,
        hasDone: chosen.startsWith('true'),
        action: ACTION_NAMES.find((action) => chosen.endsWith(` ${action}`))!,
      }),
    },
    {
      label: 'Campaign',
      isWide: true,
      type: 'select',
      value: condition.id,
      options: choices(campaigns),
      onChoose: (id) => ({ ...condition, id }),
    },
    {
      label: 'Within days',
      type: 'number',
      isCount: false,
      value: condition.withinDays,
      placeholder: 'ever',
      onInput: (withinDays) => ({ ...condition, withinDays }),
    },
  ],
};
