import type { FailingClause } from '../../protocol/index.ts';
import { compileAudience, documentField, type Filter } from '../campaigns/audience.ts';
import { type Asker, audienceOf } from '../campaigns/audience-document.ts';
import { isOpen, readPath } from '../campaigns/may-match.ts';

interface Part {
  clause: string;
  name: string;
  condition: unknown;
}

/** What must hold together: the members of a filter, and those of the filters in its `$and`. */
const partsOf = (filter: Filter, path: string): Part[] =>
  Object.entries(filter).flatMap(([name, condition]) =>
    name === '$and'
      ? (condition as Filter[]).flatMap((each, index) => partsOf(each, `${path}.$and[${index}]`))
      : [{ clause: `${path}.${name}`, name, condition }],
  );

const fits = ({ name, condition }: Part, asker: Asker, nowMs: number): boolean => {
  // The workspace was read with the whole filter, so its parts compile.
  const audience = compileAudience({ [name]: condition }, () => undefined);
  try {
    return audience?.matches(audienceOf(asker, nowMs)) ?? false;
  } catch {
    // As in the decision: a user whose attributes trip a filter does not fit it.
    return false;
  }
};

/** Every part of the filter that keeps this user out of the audience. */
export const failingClauses = (filter: Filter, asker: Asker, nowMs: number): FailingClause[] =>
  partsOf(filter, 'audience')
    .filter((part) => !fits(part, asker, nowMs))
    .map(({ clause, name, condition }) => {
      const read = name.startsWith('$') ? null : readPath(documentField(name));
      const actual = read?.(asker, nowMs);
      return { clause, expected: condition, ...(read && !isOpen(actual) && { actual: actual ?? null }) };
    });
