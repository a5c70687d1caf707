import * as z from 'zod/mini';
import { notValid, required } from '../error-codes.ts';
import { isPresent } from '../record.ts';
import { isStorableText } from '../text.ts';

// Lengths stand in `meta`, as JSON Schema counts: in Unicode code points, where zod's own bounds count UTF-16 units. A bound in
// bytes of UTF-8 is there too: no text of more code points fits it.

/** What the description of the API says of a member. */
interface Meta {
  description: string;
  maxLength?: number;
}

/** What is said of a member that must be there: `'name' is required`, or `'name' is not valid`. */
export const missingOrWrong =
  (name: string, isThere: (value: unknown) => boolean = isPresent) =>
  ({ input }: { input?: unknown }): string =>
    isThere(input) ? notValid(name) : required(name);

/** Text that must be there, and that every store can hold. */
export const textMember = (name: string, fits: (text: string) => boolean, meta: Meta) => {
  const error = missingOrWrong(name);
  return z.string({ error }).check(
    z.refine((text) => text !== '' && isStorableText(text) && fits(text), { error }),
    z.meta({ minLength: 1, ...meta }),
  );
};

/** The same where it may be missing: `null` and `''` are as good as absent. */
export const optionalTextMember = (name: string, fits: (text: string) => boolean, meta: Meta) => {
  const error = notValid(name);
  return z.pipe(
    z.nullish(
      z.string({ error }).check(
        z.refine((text) => isStorableText(text) && fits(text), { error }),
        z.meta({ ...meta }),
      ),
    ),
    z.transform((text) => text || undefined),
  );
};

/** A description of a member whose type says the rest. */
export const described = (description: string) => z.meta({ description });
