import type { InputArray } from './users-track.ts';

/** Names of properties that contain nested properties, by array. */
const PARENTS: Readonly<Record<InputArray, readonly string[]>> = {
  attributes: ['user_alias'],
  events: ['user_alias', 'properties'],
  purchases: ['user_alias', 'properties'],
};

export type MemberPath = readonly [member: string] | readonly [parent: string, member: string];

/** Returns the path of a column: `properties.score` is nested in `properties`, other names are used as they are. */
export const memberPath = (array: InputArray, name: string): MemberPath => {
  const dot = name.indexOf('.');
  const parent = name.slice(0, Math.max(dot, 0));
  return PARENTS[array].includes(parent) ? [parent, name.slice(dot + 1)] : [name];
};

export const setMember = (
  object: Record<string, unknown>,
  [member, child]: MemberPath,
  value: unknown,
): void => {
  object[member] = child === undefined ? value : { ...Object(object[member]), [child]: value };
};
