import { isRecord } from '../../../protocol/index.ts';
import { invalid, type LocatedIssue } from '../../issues.ts';
import { compileAudience, type Filter } from './audience.ts';

/** Named audience. Campaigns reference it as `{ "$segment": "<segment_id>" }`. */
export interface Segment {
  segmentId: string;
  name: string;
  /** Filter as written. */
  filter: Filter;
}

/** Segments by ID. */
export type Segments = ReadonlyMap<string, Segment>;

export const NO_SEGMENTS: Segments = new Map();

const isSegment = (name: string, value: unknown): value is string =>
  name === '$segment' && typeof value === 'string';
const isGroup = (name: string, value: unknown): value is unknown[] =>
  ['$and', '$or', '$nor'].includes(name) && Array.isArray(value);

/** Returns the distinct IDs of segments in a filter. */
export const findSegmentIds = (filter: unknown): string[] => {
  if (!isRecord(filter)) return [];
  const found = Object.entries(filter).flatMap(([name, value]): string[] => {
    if (isSegment(name, value)) return [value];
    return isGroup(name, value) ? value.flatMap(findSegmentIds) : [];
  });
  return [...new Set(found)];
};

/** Expands segments in a filter. Leaves an unknown segment, which is then reported as an unknown operator. */
export const withSegments = (filter: Filter, segments: Segments): Filter => {
  if (findSegmentIds(filter).length === 0) return filter;
  const parts: Filter[] = [];
  const rest = Object.entries(filter).flatMap(([name, value]): [string, unknown][] => {
    const segment = isSegment(name, value) ? segments.get(value) : undefined;
    if (segment) parts.push(segment.filter);
    else if (isGroup(name, value))
      return [[name, value.map((each) => (isRecord(each) ? withSegments(each, segments) : each))]];
    else return [[name, value]];
    return [];
  });
  return parts.length === 0
    ? Object.fromEntries(rest)
    : { $and: [...parts, ...(rest.length > 0 ? [Object.fromEntries(rest)] : [])] };
};

/** Returns the issues of a segment's filter with their paths. Segments cannot reference segments. */
export const segmentProblems = (filter: Filter): LocatedIssue[] => {
  if (findSegmentIds(filter).length > 0) {
    return [{ path: [], ...invalid('expected a filter without $segment: a segment holds no other') }];
  }
  const problems: LocatedIssue[] = [];
  compileAudience(filter, (path, issue) => problems.push({ path, ...issue }));
  return problems;
};
