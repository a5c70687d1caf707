import { type ConditionKind, choices, isFilter } from './condition-kind.ts';

/** Condition on the requesting app. */
export interface AppCondition {
  kind: 'app';
  ids: string[];
}

const isText = (value: unknown): value is string => typeof value === 'string';

export const app: ConditionKind<AppCondition> = {
  label: 'App',
  blank: () => ({ kind: 'app', ids: [] }),
  read: (name, filter) => {
    if (name !== 'app_id') return null;
    const raw = filter[name];
    const ids = isText(raw) ? [raw] : isFilter(raw) ? raw['$in'] : null;
    if (!Array.isArray(ids) || !ids.every(isText)) return 'unsaid';
    return { result: { kind: 'app', ids }, names: [name] };
  },
  write: ({ ids }) => ({ app_id: { $in: ids } }),
  words: () => null,
  isComplete: ({ ids }) => ids.length > 0,
  isUnknown: () => false,
  controls: (condition, { apps }) => [
    {
      label: 'App',
      isWide: true,
      type: 'select',
      value: condition.ids[0] ?? '',
      options: choices(apps),
      onChoose: (id) => ({ ...condition, ids: id ? [id] : [] }),
    },
  ],
};
