import type { Banner } from '../banner.ts';
import type { Drawn, EmptySlot, PlacementHook, Problem, Slot } from '../placement-hook.ts';

/** The result of a check by Standard Schema v1. */
type Verdict<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Problem[] };

/** Any schema library that follows Standard Schema v1: zod, valibot, arktype and others. */
export interface StandardSchema<Output = unknown> {
  /** What the library offers by the standard. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    /** Checks a value, at once or late. */
    readonly validate: (value: unknown) => Verdict<Output> | Promise<Verdict<Output>>;
  };
}

/** What `definePlacement` ties together: a schema, and what is drawn. */
export interface PlacementDefinition<Properties> {
  /** Checks the properties, by name and without their wire types: `{ headline: 'Hi' }`. */
  properties: StandardSchema<Properties>;
  /** Draws a banner that fits. */
  render(properties: Properties, slot: Slot, banner: Banner): Drawn;
  /** Draws what the slot shows without a banner. */
  empty?(slot: EmptySlot): Drawn;
  /** Called with the problems of a banner that does not fit; may draw something instead. */
  invalid?(problems: readonly Problem[], slot: EmptySlot): Drawn;
}

/** A placement hook that knows its placement and the types of its properties. */
export interface DefinedPlacement extends PlacementHook {
  /** The placement it was defined for. */
  readonly placementId: string;
}

const unwrap = ({ properties }: Banner): Record<string, unknown> =>
  // Not an assignment by name: a property called `__proto__` must stay one.
  Object.fromEntries(Object.entries(properties).map(([name, { value }]) => [name, value]));

/** Ties a placement to a schema of its properties; pass the result to `mount` as the hook. */
export const definePlacement = <Properties>(
  placementId: string,
  { properties: schema, render, empty, invalid }: PlacementDefinition<Properties>,
): DefinedPlacement => {
  /** Each banner's checked properties, for the draw that follows the check. */
  const checked = new WeakMap<Banner, Verdict<Properties>>();

  const note = (banner: Banner, verdict: Verdict<Properties>): readonly Problem[] => {
    if (verdict.issues) return verdict.issues;
    checked.set(banner, verdict);
    return [];
  };

  const hook = (banner: Banner, slot: Slot): Drawn => {
    // A component that defines its placement in each render may have done so again since the check.
    const fitting = checked.get(banner) ?? schema['~standard'].validate(unwrap(banner));
    if ('then' in fitting || fitting.issues)
      throw new Error(`Banner "${banner.id}" of "${placementId}" was drawn unchecked`);
    return render(fitting.value, slot, banner);
  };
  return Object.assign(hook, {
    placementId,
    check(banner: Banner) {
      const verdict = schema['~standard'].validate(unwrap(banner));
      return 'then' in verdict ? verdict.then((late) => note(banner, late)) : note(banner, verdict);
    },
    ...(empty && { empty }),
    ...(invalid && { invalid }),
  });
};
