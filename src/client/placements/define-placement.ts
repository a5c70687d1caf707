import type { Banner } from '../banner.ts';
import type { Issue, PlacementCleanup, PlacementHook, Slot, SlotContext } from '../placement-hook.ts';

/** Validation result of Standard Schema v1. */
type ValidationResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** Schema of any library that implements Standard Schema v1, such as Zod, Valibot or ArkType. */
export interface StandardSchema<Output = unknown> {
  /** Interface of the standard. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    /** Validates a value, synchronously or asynchronously. */
    readonly validate: (value: unknown) => ValidationResult<Output> | Promise<ValidationResult<Output>>;
  };
}

/** Schema and render functions of a placement. */
export interface PlacementDefinition<Properties> {
  /** Schema of the properties, as plain values by name: `{ headline: 'Hi' }`. */
  properties: StandardSchema<Properties>;
  /** Renders a valid banner. `properties` is the schema's output. */
  render(properties: Properties, slot: Slot, banner: Banner): PlacementCleanup;
  /** Renders the slot without a banner. Default: the slot collapses. */
  renderEmpty?(slot: SlotContext): PlacementCleanup;
  /** Renders the slot instead of an invalid banner. Default: `renderEmpty`. */
  renderInvalid?(issues: readonly Issue[], slot: SlotContext): PlacementCleanup;
}

/** Placement hook with its placement ID and a schema. */
export interface DefinedPlacement extends PlacementHook {
  /** ID of the placement, as passed to `definePlacement`. */
  readonly placementId: string;
}

const unwrap = ({ properties }: Banner): Record<string, unknown> =>
  // Does not assign properties by name, so that a property called `__proto__` is kept.
  Object.fromEntries(Object.entries(properties).map(([name, { value }]) => [name, value]));

/**
 * Creates a placement hook that validates the properties of each banner before it renders it. Pass the result to `mount`. An
 * invalid banner is neither rendered nor counted, and reported as a `failed` notice of kind `invalid-banner`.
 */
export const definePlacement = <Properties>(
  placementId: string,
  { properties: schema, render, renderEmpty, renderInvalid }: PlacementDefinition<Properties>,
): DefinedPlacement => {
  /** Validated properties of each banner, for the render after the check. */
  const checked = new WeakMap<Banner, ValidationResult<Properties>>();

  const note = (banner: Banner, result: ValidationResult<Properties>): readonly Issue[] => {
    if (result.issues) return result.issues;
    checked.set(banner, result);
    return [];
  };

  const hook = (banner: Banner, slot: Slot): PlacementCleanup => {
    // Not checked yet if a component defined its placement again in a render since the check.
    const validated = checked.get(banner) ?? schema['~standard'].validate(unwrap(banner));
    if ('then' in validated || validated.issues)
      throw new Error(`Banner "${banner.id}" of "${placementId}" was not validated`);
    return render(validated.value, slot, banner);
  };
  return Object.assign(hook, {
    placementId,
    validate(banner: Banner) {
      const result = schema['~standard'].validate(unwrap(banner));
      return 'then' in result ? result.then((late) => note(banner, late)) : note(banner, result);
    },
    ...(renderEmpty && { renderEmpty }),
    ...(renderInvalid && { renderInvalid }),
  });
};
