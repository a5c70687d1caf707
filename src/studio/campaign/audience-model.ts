import type { Filter } from './campaign-json.ts';
import { isFilter } from './conditions/condition-kind.ts';
import { type Condition, readConditions, writeCondition } from './conditions/kinds.ts';

export interface AudienceModel {
  match: 'all' | 'any';
  conditions: Condition[];
}

/** What a filter says, line by line; `null` if it says more than the builder has lines for. */
export const readAudience = (filter: Filter | null | undefined): AudienceModel | null => {
  if (!filter) return { match: 'all', conditions: [] };
  const { $or: any, $and: all, ...plain } = filter;
  const lists = [any, all].filter((list) => list !== undefined);
  if (lists.length === 0) {
    const conditions = readConditions(plain);
    return conditions && { match: 'all', conditions };
  }
  const [list] = lists;
  if (lists.length > 1 || Object.keys(plain).length > 0 || !Array.isArray(list)) return null;
  const conditions = list.flatMap((each) => {
    const [condition, ...more] = (isFilter(each) && readConditions(each)) || [];
    return condition && more.length === 0 ? [condition] : [];
  });
  if (conditions.length < list.length) return null;
  return { match: any === undefined ? 'all' : 'any', conditions };
};

/** The filter that says these lines; `null` for everyone. */
export const writeAudience = ({ match, conditions }: AudienceModel): Filter | null => {
  const filters = conditions.map(writeCondition);
  if (filters.length === 0) return null;
  if (match === 'any' && filters.length > 1) return { $or: filters };
  const names = filters.flatMap((filter) => Object.keys(filter));
  // Two lines about one attribute cannot be members of one object.
  if (new Set(names).size < names.length) return { $and: filters };
  // `Object.assign` would lose an attribute `__proto__`, and say everyone: the checks name it.
  return Object.fromEntries(filters.flatMap((filter) => Object.entries(filter)));
};
