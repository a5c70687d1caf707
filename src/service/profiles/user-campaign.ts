import type { RowOf } from '../sql/table.ts';
import type { USER_CAMPAIGNS } from '../sql/user-tables.ts';

export type UserCampaignRow = RowOf<typeof USER_CAMPAIGNS>;

/** State of a campaign for one user. Excludes test sends. */
export type UserCampaign = Omit<UserCampaignRow, 'userId' | 'workspaceId'>;
