import type { PropertyType, PropertyValues } from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';

/** What `typeof` returns for a value of each type. */
const JSON_TYPES: Record<PropertyType, string> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  image: 'string',
  jsonobject: 'object',
  datetime: 'number',
};

// Not by `invalidProperties`: what the late chunk and this entry share, esbuild puts into a file of its own, which every page
// would load before the first paint. A test compares both.
const isValue = (value: unknown, type: PropertyType): boolean =>
  typeof value === JSON_TYPES[type] && value !== null && !Array.isArray(value);

const read = <Type extends PropertyType>(
  banner: Banner,
  name: string,
  type: Type,
): PropertyValues[Type] | null => {
  if (!Object.hasOwn(banner.properties, name)) return null;
  const property = banner.properties[name]!;
  return property.type === type && isValue(property.value, type)
    ? (property.value as PropertyValues[Type])
    : null;
};

/** The property's text, or `null` where it is missing or of another type. */
export const getStringProperty = (banner: Banner, name: string) => read(banner, name, 'string');
/** The property's number, or `null` where it is missing or of another type. */
export const getNumberProperty = (banner: Banner, name: string) => read(banner, name, 'number');
/** `true`, `false`, or `null` where the property is missing or of another type. */
export const getBooleanProperty = (banner: Banner, name: string) => read(banner, name, 'boolean');
/** The image's URL as it was sent, or `null`; draw it through `slot.safeUrl(url, 'image')`. */
export const getImageProperty = (banner: Banner, name: string) => read(banner, name, 'image');
/** The property's object, or `null` where it is missing or of another type. */
export const getJsonProperty = (banner: Banner, name: string) => read(banner, name, 'jsonobject');
/** Unix milliseconds, or `null` where the property is missing or of another type. */
export const getDatetimeProperty = (banner: Banner, name: string) => read(banner, name, 'datetime');
