import type { TemplateProperty } from './properties.ts';

/** Example message of a template. */
export interface TemplateStarter {
  name: string;
  summary: string;
  /** Returns the properties by name, as in a campaign. */
  properties(
    nowMs: number,
  ): Record<string, { type: 'string' | 'boolean' | 'datetime'; value: string | boolean }>;
}

/**
 * Metadata of a template, for the JSON Schema of the workspace file, the Studio, documentation and tests. A separate export, so
 * that no page loads it.
 */
export interface TemplateEntry<Name extends string = string> {
  /** Name in workspace files, and of the export of `placard/templates`. */
  name: Name;
  label: string;
  /** Properties that the template renders, in editing order. */
  properties: readonly TemplateProperty[];
  /** Properties of which a banner must have at least one. */
  needed: readonly string[];
  /** Typical width in CSS pixels, for previews. */
  width: number;
  /** Recommended minimum heights as CSS lengths. `wide` applies from a width of 48 rem. */
  heights: { narrow: string; wide: string };
  /** Default aspect ratio of the image, as width and height. Wide slots may crop it further. */
  imageRatio: readonly [width: number, height: number];
  starters: readonly TemplateStarter[];
}

/** Creates a text property of a starter. */
export const text = (value: string) => ({ type: 'string', value }) as const;

/** Returns the distinct properties of all entries. */
export const uniqueProperties = <Name extends string>(
  // Passed as a function, because a nested call in the arguments of a pure call would stay in every bundle.
  readEntries: () => readonly { properties: readonly TemplateProperty<Name>[] }[],
): TemplateProperty<Name>[] => {
  const byName = new Map(
    readEntries()
      .flatMap(({ properties }) => properties)
      .map((each) => [each.name, each]),
  );
  return [...byName.values()];
};
