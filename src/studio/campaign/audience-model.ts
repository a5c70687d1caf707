import type { Filter } from './campaign-json.ts';
import { isFilter } from './conditions/condition-kind.ts';
import { type Condition, readConditions, writeCondition } from './conditions/kinds.ts';

export interface AudienceModel {
  match: 'all' | 'any';
  conditions: Condition[];
}

/** Parses a filter into conditions; `null` if the builder cannot show it. */
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

/** Returns the filter of the conditions; `null` for all users. */
export const writeAudience = ({ match, conditions }: AudienceModel): Filter | null => {
  const filters = conditions.map(writeCondition);
  if (filters.length === 0) return null;
  if (match === 'any' && filters.length > 1) return { $or: filters };
  const names = filters.flatMap((filter) => Object.keys(filter));
  // Uses `$and`, because an object cannot have two conditions on one attribute.
  if (new Set(names).size < names.length) return { $and: filters };
  // `Object.assign` would drop an attribute `__proto__`, so the filter would match all users. The checks report the attribute.
  return Object.fromEntries(filters.flatMap((filter) => Object.entries(filter)));
};
