export type { CampaignText } from './campaign/campaign-text.ts';
export { pullCampaigns, pushCampaigns } from './mirror/mirror.ts';
export { createStudio, type Studio, type StudioOptions } from './server/create-studio.ts';
export { listenStudio } from './server/listen-studio.ts';
export { builtPages, pageHeaders } from './server/pages.ts';
export { newOperatorKey } from './server/sessions.ts';
