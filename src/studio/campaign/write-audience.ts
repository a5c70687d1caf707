import { type AudienceModel, type Condition, OPERATORS } from './audience-model.ts';
import type { Filter } from './campaign-text.ts';

const WIRE = Object.fromEntries(Object.entries(OPERATORS).map(([wire, operator]) => [operator, wire]));

const filterOf = (condition: Condition): Filter => {
  switch (condition.kind) {
    case 'attribute': {
      const { name, operator, value } = condition;
      if (operator === 'is known' || operator === 'is not known')
        return { [name]: { $exists: operator === 'is known' } };
      return { [name]: operator === 'is' ? value : { [WIRE[operator]!]: value } };
    }
    case 'event':
    case 'purchase': {
      const path = `${condition.kind === 'event' ? 'events' : 'purchases'}.${condition.name}`;
      if (condition.atLeast === 0) return { [`${path}.count`]: { $exists: false } };
      return {
        [`${path}.count`]: { $gte: condition.atLeast },
        ...(condition.withinDays !== null && { [`${path}.last_days_ago`]: { $lte: condition.withinDays } }),
      };
    }
    case 'group':
      return { [`subscription_groups.${condition.id}`]: condition.state };
    case 'segment':
      return condition.isIn ? { $segment: condition.id } : { $nor: [{ $segment: condition.id }] };
    case 'app':
      return { app_id: { $in: condition.ids } };
  }
};

/** The filter that says these lines; `null` for everyone. */
export const writeAudience = ({ match, conditions }: AudienceModel): Filter | null => {
  const filters = conditions.map(filterOf);
  if (filters.length === 0) return null;
  if (match === 'any' && filters.length > 1) return { $or: filters };
  const names = filters.flatMap((filter) => Object.keys(filter));
  // Two lines about one attribute cannot be members of one object.
  if (new Set(names).size < names.length) return { $and: filters };
  // `Object.assign` would lose an attribute `__proto__`, and say everyone: the checks name it.
  return Object.fromEntries(filters.flatMap((filter) => Object.entries(filter)));
};
