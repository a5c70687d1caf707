import type { Schema } from './fields.ts';

/** A field of a body, as a table shows it. */
export interface FieldRow {
  /** Such as `events[].name`, or `banners.*.id` for members of any name. */
  path: string;
  type: string;
  isRequired: boolean;
  description: string;
}

/** `string`, `array of objects, at most 75`, `"click" or "dismiss"` */
const typeOf = ({ type, anyOf, enum: values, items, maxItems }: Schema): string => {
  if (values) return values.map((value) => JSON.stringify(value)).join(' or ');
  if (anyOf) return [...new Set(anyOf.map(typeOf).flatMap((each) => each.split(' or ')))].join(' or ');
  if (type === 'array') {
    const of = items ? typeOf(items) : '';
    const what = of === '' ? 'array' : `array of ${of}${/ or |"/.test(of) ? '' : 's'}`;
    return maxItems === undefined ? what : `${what}, at most ${maxItems.toLocaleString('en-US')}`;
  }
  return Array.isArray(type) ? type.join(' or ') : (type ?? 'anything');
};

/** The objects that a schema may lead to, whatever is around them. */
const objectsIn = (schema: Schema, path: string): { schema: Schema; path: string }[] => [
  ...(schema.properties ? [{ schema, path }] : []),
  ...(schema.anyOf ?? []).flatMap((each) => objectsIn(each, path)),
  ...(schema.items ? objectsIn(schema.items, `${path}[]`) : []),
  ...(typeof schema.additionalProperties === 'object'
    ? objectsIn(schema.additionalProperties, path === '' ? '*' : `${path}.*`)
    : []),
];

/** Every field of a schema, those inside of a field right after it. */
export const fieldRows = (root: Schema): FieldRow[] => {
  const rows = new Map<string, FieldRow>();
  const walk = (from: Schema, at: string) => {
    for (const { schema, path } of objectsIn(from, at)) {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        const here = path === '' ? name : `${path}.${name}`;
        // The same field of another form, such as one of several ways to find a user.
        if (rows.has(here)) continue;
        rows.set(here, {
          path: here,
          type: typeOf(field),
          isRequired: schema.required?.includes(name) ?? false,
          description: field.description ?? '',
        });
        walk(field, here);
      }
    }
  };
  walk(root, '');
  return [...rows.values()];
};
