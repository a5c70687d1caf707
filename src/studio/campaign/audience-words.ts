import type { Filter } from './campaign-text.ts';
import { isFilter } from './conditions/condition-kind.ts';
import { conditionWords } from './conditions/kinds.ts';

/** What a workspace calls a segment that a filter has only as an ID. */
type SegmentName = (id: string) => string;

const groupWords = (name: string, filters: unknown, segmentName: SegmentName): string[] | null => {
  if (!['$and', '$or', '$nor'].includes(name) || !Array.isArray(filters)) return null;
  const each = filters.filter(isFilter).map((inner) => parts(inner, segmentName).join(' and '));
  if (name === '$and') return each;
  return [name === '$or' ? each.join(', or ') : `not: ${each.join(', or ')}`];
};

const parts = (filter: Filter, segmentName: SegmentName): string[] => {
  const words: string[] = [];
  const rest: Filter = {};
  for (const [name, value] of Object.entries(filter)) {
    const group = groupWords(name, value, segmentName);
    if (group) words.push(...group);
    else rest[name] = value;
  }
  return [...conditionWords(rest, segmentName), ...words];
};

/** An audience filter as a sentence a marketer can check. */
export const audienceWords = (
  audience: Filter | null | undefined,
  segmentName: SegmentName = (id) => id,
): string => {
  const conditions = isFilter(audience) ? parts(audience, segmentName) : [];
  return conditions.length === 0 ? 'Everyone.' : `People of whom this is true: ${conditions.join('; and ')}.`;
};
