import { COUNT_FIELDS, EVENT_TYPES } from '../../../protocol/index.ts';
import {
  type ConditionKind,
  formatDays,
  formatValue,
  idControl,
  onlyEntry,
  parseBound,
} from './condition-kind.ts';

/** Actions on campaigns with their filter fields. */
const ACTIONS = [
  ...EVENT_TYPES.map((type) => {
    const { events, users, last } = COUNT_FIELDS[type];
    return { action: type === 'impression' ? 'saw' : users, count: events, days: `${last}_days_ago` };
  }),
  { action: 'converted in', count: 'conversions', days: 'last_conversion_days_ago' },
] as const;
type Action = (typeof ACTIONS)[number]['action'];

/** Action of a user in another campaign, or its absence, within `withinDays` (`null` for any time). */
export interface CampaignCondition {
  kind: 'campaign';
  id: string;
  action: Action;
  hasDone: boolean;
  withinDays: number | null;
}

const readField = (name: string, raw: unknown): CampaignCondition | null => {
  const [, id = '', field, ...rest] = name.split('.');
  const found = ACTIONS.find(({ count, days }) => field === count || field === days);
  if (!found || rest.length > 0) return null;
  const [operator, operand] = onlyEntry(raw) ?? [];
  const condition = { kind: 'campaign', id, action: found.action, withinDays: null } as const;
  if (field === found.count) {
    return operator === '$exists' && typeof operand === 'boolean' ? { ...condition, hasDone: operand } : null;
  }
  const hasDone = operator !== '$not';
  const withinDays = parseBound(hasDone ? raw : operand, '$lte');
  return withinDays === null ? null : { ...condition, hasDone, withinDays };
};

export const campaign: ConditionKind<CampaignCondition> = {
  label: 'Campaign',
  blank: () => ({ kind: 'campaign', id: '', action: 'saw', hasDone: true, withinDays: null }),
  read: (name, filter) => {
    if (!name.startsWith('campaigns.')) return name === 'campaigns' ? 'unsupported' : null;
    const result = readField(name, filter[name]);
    return result ? { result, names: [name] } : 'unsupported';
  },
  write: ({ id, action, hasDone, withinDays }) => {
    const { count, days } = ACTIONS.find((each) => each.action === action)!;
    if (withinDays === null) return { [`campaigns.${id}.${count}`]: { $exists: hasDone } };
    const isWithin = { $lte: withinDays };
    return { [`campaigns.${id}.${days}`]: hasDone ? isWithin : { $not: isWithin } };
  },
  describe: (name, filter, getName) => {
    if (!name.startsWith('campaigns.')) return null;
    const condition = readField(name, filter[name]);
    if (!condition) return { result: [`${name} ${formatValue(filter[name])}`], names: [name] };
    const { id, action, hasDone, withinDays } = condition;
    const lately = withinDays === null ? '' : ` in the last ${formatDays(withinDays)}`;
    return {
      result: [`${hasDone ? '' : 'not: '}${action} campaign “${getName('campaign', id)}”${lately}`],
      names: [name],
    };
  },
  isComplete: ({ id }) => id !== '',
  controls: (condition, { campaigns }) => [
    {
      label: 'Users who',
      type: 'select',
      value: `${condition.hasDone} ${condition.action}`,
      options: [true, false].flatMap((hasDone) =>
        ACTIONS.map(({ action }) => ({
          value: `${hasDone} ${action}`,
          name: hasDone ? action : `not: ${action}`,
        })),
      ),
      onChoose: (chosen) => ({
        ...condition,
        hasDone: chosen.startsWith('true'),
        action: ACTIONS.find(({ action }) => chosen.endsWith(` ${action}`))!.action,
      }),
    },
    idControl('Campaign', campaigns, condition.id, (id) => ({ ...condition, id })),
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
