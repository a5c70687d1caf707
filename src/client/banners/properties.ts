import { isRecord, type PropertyType, type PropertyValues } from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';

const IS_VALID: Record<PropertyType, (value: unknown) => boolean> = {
  string: isText,
  number: isNumber,
  boolean: (value) => typeof value === 'boolean',
  image: isText,
  jsonobject: isRecord,
  datetime: isNumber,
};

const isType = (type: string): type is PropertyType => Object.hasOwn(IS_VALID, type);

/** Names of properties whose value does not have the declared type, or whose type is unknown. */
export const invalidProperties = ({ properties }: Banner): string[] =>
  Object.keys(properties).filter((name) => {
    const { type, value } = properties[name]!;
    return !(isType(type) && IS_VALID[type](value));
  });

const read = <Type extends PropertyType>(
  banner: Banner,
  name: string,
  type: Type,
): PropertyValues[Type] | null => {
  if (!Object.hasOwn(banner.properties, name)) return null;
  const property = banner.properties[name]!;
  return property.type === type && IS_VALID[type](property.value)
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
