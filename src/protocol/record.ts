/** True for what JSON calls an object: not null, not an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Of a member: `null` and `""` are as good as absent. */
export const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
