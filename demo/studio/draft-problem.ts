import { TEMPLATE_PROPERTIES } from '../../src/templates/index.ts';

/** Something that keeps a draft, or a part of it, from being sent or drawn. */
export interface DraftProblem {
  /** Name of the property it is about; `null` where it is about more than one. */
  property: string | null;
  words: string;
}

/** What the form calls a property. */
export const labelOf = (name: string): string =>
  TEMPLATE_PROPERTIES.find((property) => property.name === name)?.label ?? name;

/** One line a problem, each with the label of its field in front. */
export const problemLines = (problems: readonly DraftProblem[]): string =>
  problems
    .map(({ property, words }) => (property === null ? words : `${labelOf(property)}: ${words}`))
    .join('\n');
