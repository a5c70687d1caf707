/** Roles of operators in ascending order. Each role includes the permissions of the previous ones. */
export const ROLES = ['view', 'edit', 'publish', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Whether `role` includes the role `least`. */
export const includesRole = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);
