import { isRecord, type PropertyType } from '../../protocol/index.ts';
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
