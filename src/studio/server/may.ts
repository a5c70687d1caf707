import { type Operator, ROLES, type Role } from '../../service/index.ts';

/** Whether an operator's role is at least this one. */
export const may = ({ role }: Pick<Operator, 'role'>, least: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(least);
