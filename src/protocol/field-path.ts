import type { InputArray } from './users-track.ts';

/** Members of the objects of each array that have members themselves. */
const PARENTS: Readonly<Record<InputArray, readonly string[]>> = {
  attributes: ['user_alias'],
  events: ['user_alias', 'properties'],
  purchases: ['user_alias', 'properties'],
};

export type MemberPath = readonly [member: string] | readonly [parent: string, member: string];

/** The member that a column becomes: `properties.score` is one of `properties`, and all others are as they are written. */
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
  object[member] =
    child === undefined ? value : { ...(object[member] as object | undefined), [child]: value };
};
