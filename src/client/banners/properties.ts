import { isRecord } from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';

const FITS: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  image: (value) => typeof value === 'string',
  jsonobject: isRecord,
  datetime: (value) => typeof value === 'number',
};

/** Names of properties whose value does not have the declared type, or whose type is unknown. */
export const misfits = ({ properties }: Banner): string[] =>
  Object.keys(properties).filter((name) => {
    const { type, value } = properties[name]!;
    return !(Object.hasOwn(FITS, type) && FITS[type]!(value));
  });

const read = <T>(banner: Banner, name: string, type: string): T | null => {
  if (!Object.hasOwn(banner.properties, name)) return null;
  const property = banner.properties[name]!;
  return property.type === type && FITS[type]!(property.value) ? (property.value as T) : null;
};

/** The property's text, or `null` where it is missing or of another type. */
export const getStringProperty = (banner: Banner, name: string) => read<string>(banner, name, 'string');
/** The property's number, or `null` where it is missing or of another type. */
export const getNumberProperty = (banner: Banner, name: string) => read<number>(banner, name, 'number');
/** The property's `true` or `false`, or `null` where it is missing or of another type. */
export const getBooleanProperty = (banner: Banner, name: string) => read<boolean>(banner, name, 'boolean');
/** The image's URL as it was sent; draw it through `slot.safeUrl(url, 'image')`. */
export const getImageProperty = (banner: Banner, name: string) => read<string>(banner, name, 'image');
/** The property's object, or `null` where it is missing or of another type. */
export const getJsonProperty = (banner: Banner, name: string) =>
  read<Record<string, unknown>>(banner, name, 'jsonobject');
/** Unix milliseconds. */
export const getTimestampProperty = (banner: Banner, name: string) => read<number>(banner, name, 'datetime');
