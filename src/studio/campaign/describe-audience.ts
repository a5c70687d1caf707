import type { Filter } from './campaign-json.ts';
import { type AudienceName, isFilter } from './conditions/condition-kind.ts';
import { describeConditions } from './conditions/kinds.ts';

const describeGroup = (name: string, filters: unknown, getName: AudienceName): string[] | null => {
  if (!['$and', '$or', '$nor'].includes(name) || !Array.isArray(filters)) return null;
  const each = filters.filter(isFilter).map((inner) => parts(inner, getName).join(' and '));
  if (name === '$and') return each;
  return [name === '$or' ? each.join(', or ') : `not: ${each.join(', or ')}`];
};

const parts = (filter: Filter, getName: AudienceName): string[] => {
  const descriptions: string[] = [];
  const rest: Filter = {};
  for (const [name, value] of Object.entries(filter)) {
    const group = describeGroup(name, value, getName);
    if (group) descriptions.push(...group);
    else rest[name] = value;
  }
  return [...describeConditions(rest, getName), ...descriptions];
};

/** Returns an audience filter as a sentence for marketers. */
export const describeAudience = (audience: unknown, getName: AudienceName = (_, id) => id): string => {
  const conditions = isFilter(audience) ? parts(audience, getName) : [];
  return conditions.length === 0 ? 'Everyone.' : `Users who match: ${conditions.join('; and ')}.`;
};
