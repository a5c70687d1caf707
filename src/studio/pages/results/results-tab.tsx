import type { CampaignRow } from '../../server/routes/campaigns.ts';

export const ResultsTab = ({ row }: { row: CampaignRow }) => <p class="muted">{row.id}</p>;
