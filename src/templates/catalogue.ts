import type { TemplateProperty } from './properties.ts';

/** A message to begin from. */
export interface TemplateStarter {
  name: string;
  summary: string;
  /** Returns the properties, by name, as a campaign has them. */
  properties(
    nowMs: number,
  ): Record<string, { type: 'string' | 'boolean' | 'datetime'; value: string | boolean }>;
}

/**
 * Everything about a template but its drawing: the schema of the workspace file, the Studio, the documentation and the tests
 * read it. Beside the template, in an export of its own, so that no page loads it.
 */
export interface TemplateEntry<Name extends string = string> {
  /** As in a workspace file, and as `placard/templates` exports it. */
  name: Name;
  label: string;
  /** Properties that it draws, in the order in which they are edited. */
  properties: readonly TemplateProperty[];
  /** Names of properties, at least one of which a banner must have. */
  needed: readonly string[];
  /** Typical width in CSS pixels, for previews. */
  width: number;
  /** Least height of a good box, as CSS; `wide` from 48 rem of width. */
  heights: { narrow: string; wide: string };
  starters: readonly TemplateStarter[];
}

/** A text of a starter. */
export const text = (value: string) => ({ type: 'string', value }) as const;

/** Returns the properties of all entries, each once. */
export const uniqueProperties = <Name extends string>(
  // A function: a call in the arguments of a call that is marked as pure would stay in every bundle.
  readEntries: () => readonly { properties: readonly TemplateProperty<Name>[] }[],
): TemplateProperty<Name>[] => {
  const byName = new Map(
    readEntries()
      .flatMap(({ properties }) => properties)
      .map((each) => [each.name, each]),
  );
  return [...byName.values()];
};
