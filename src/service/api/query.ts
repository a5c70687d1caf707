import * as z from 'zod/mini';
import { described } from '../../protocol/schemas/index.ts';
import { parseDate } from '../users/dates.ts';

interface IntegerOptions {
  min: number;
  max: number;
  /** Default value of the parameter. Without it, the parameter is required. */
  standard?: number;
  description: string;
}

/** Creates the schema of an integer parameter. */
export const integer = (name: string, { min, max, standard, description }: IntegerOptions) =>
  z.pipe(
    z.optional(z.string().check(described(description))),
    z.transform((text, context) => {
      const value = text === undefined ? standard : /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      if (value !== undefined && value >= min && value <= max) return value;
      const message = `'${name}' must be an integer from ${min} to ${max}`;
      context.issues.push({ code: 'custom', message, input: text });
      return z.NEVER;
    }),
  );

/** Creates the schema of an optional date or time in a format of `parseDate`. */
export const time = (name: string, description: string) =>
  z.optional(
    z.string().check(
      described(description),
      z.refine((text) => parseDate(text) !== null, `'${name}' must be an ISO 8601 date or time`),
    ),
  );

/** Creates the schema of an optional Boolean parameter. Only `true` enables it. */
export const flag = (description: string) =>
  z.pipe(
    z.optional(z.string().check(described(description))),
    z.transform((text) => text === 'true'),
  );

/** Creates the schema of an optional parameter with one of these values. */
export const choice = <Value extends string>(
  name: string,
  values: readonly [Value, ...Value[]],
  description: string,
) => z.optional(z.enum(values, `'${name}' must be ${values.join(' or ')}`).check(described(description)));
