import { CLIENT_PERMISSIONS, SERVER_PERMISSIONS } from '../../src/protocol/index.ts';

/** Workspace file with one app, a client key and a server key. `members` override or extend it. */
export const APP_ID = '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a';
export const CLIENT_KEY = 'test-client-key';
export const SERVER_KEY = 'test-server-key';

export const aWorkspace = (members: Record<string, unknown> = {}): Record<string, unknown> => ({
  workspace_id: 'test',
  apps: [{ app_id: APP_ID, platform: 'web' }],
  api_keys: [
    { type: 'client', key: CLIENT_KEY, permissions: CLIENT_PERMISSIONS },
    { type: 'server', key: SERVER_KEY, permissions: SERVER_PERMISSIONS },
  ],
  ...members,
});

export const aVariant = (members: Record<string, unknown> = {}): Record<string, unknown> => ({
  variant_id: 'a',
  properties: { headline: { type: 'string', value: 'Hello' } },
  ...members,
});

export const aCampaign = (members: Record<string, unknown> = {}): Record<string, unknown> => ({
  campaign_id: 'c1',
  status: 'active',
  placements: ['home'],
  variants: [aVariant()],
  ...members,
});
