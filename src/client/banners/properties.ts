import type { PropertyType, PropertyValues } from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';

/** Result of `typeof` for each property type. */
const JSON_TYPES: Record<PropertyType, string> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  image: 'string',
  jsonobject: 'object',
  datetime: 'number',
};

// Does not use `invalidProperties`, because esbuild puts code that the deferred chunk and this entry share into a separate file,
// which every page would load before the first paint. A test compares the two functions.
const isValue = <Type extends PropertyType>(value: unknown, type: Type): value is PropertyValues[Type] =>
  typeof value === JSON_TYPES[type] && value !== null && !Array.isArray(value);

const read = <Type extends PropertyType>(
  banner: Banner,
  name: string,
  type: Type,
): PropertyValues[Type] | null => {
  if (!Object.hasOwn(banner.properties, name)) return null;
  const property = banner.properties[name]!;
  return property.type === type && isValue(property.value, type) ? property.value : null;
};

/** Returns the text of a property; `null` if the property is missing or of another type. */
export const getStringProperty = (banner: Banner, name: string) => read(banner, name, 'string');
/** Returns the number of a property; `null` if the property is missing or of another type. */
export const getNumberProperty = (banner: Banner, name: string) => read(banner, name, 'number');
/** Returns the boolean of a property; `null` if the property is missing or of another type. */
export const getBooleanProperty = (banner: Banner, name: string) => read(banner, name, 'boolean');
/**
 * Returns the URL of an image property, unchecked; `null` if the property is missing or of another type. Pass it through
 * `slot.safeUrl(url, 'image')` before use.
 */
export const getImageProperty = (banner: Banner, name: string) => read(banner, name, 'image');
/** Returns the JSON object of a property; `null` if the property is missing or of another type. */
export const getJsonProperty = (banner: Banner, name: string) => read(banner, name, 'jsonobject');
/** Returns the time of a property in Unix milliseconds; `null` if the property is missing or of another type. */
export const getDatetimeProperty = (banner: Banner, name: string) => read(banner, name, 'datetime');
