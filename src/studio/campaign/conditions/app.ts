import { type ConditionKind, idControl, isFilter } from './condition-kind.ts';

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
    if (!Array.isArray(ids) || !ids.every(isText)) return 'unsupported';
    return { result: { kind: 'app', ids }, names: [name] };
  },
  write: ({ ids }) => ({ app_id: { $in: ids } }),
  isComplete: ({ ids }) => ids.length > 0,
  controls: ({ kind, ids: [first = ''] }, { apps }) => [
    idControl('App', apps, first, (id) => ({ kind, ids: id ? [id] : [] })),
  ],
};
