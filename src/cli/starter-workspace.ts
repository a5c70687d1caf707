// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { CLIENT_PERMISSIONS, SERVER_PERMISSIONS } from '../protocol/index.ts';
import { newOperatorKey } from '../studio/index.ts';

const newKey = (kind: string) => `placard_${kind}_${randomBytes(24).toString('base64url')}`;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Where the tools of today serve an app that is being written. */
const SITES = ['http://localhost:3000', 'http://localhost:5173'];

/**
 * A small workspace to begin with: one app, one placement, one campaign for everyone, keys of its own, and a Studio that
 * publishes.
 */
export const starterWorkspace = () => {
  const operator = newOperatorKey();
  const appId = randomUUID();
  const clientKey = newKey('client');
  const serverKey = newKey('server');
  const file = {
    workspace_id: 'main',
    name: 'My workspace',
    apps: [{ app_id: appId, name: 'My app', platform: 'web' }],
    api_keys: [
      {
        name: 'browser',
        type: 'client',
        key_sha256: sha256(clientKey),
        permissions: CLIENT_PERMISSIONS,
      },
      {
        name: 'backend',
        type: 'server',
        key_sha256: sha256(serverKey),
        permissions: SERVER_PERMISSIONS,
      },
    ],
    operators: [{ name: 'Admin', role: 'admin', people: true, key_sha256: operator.sha256 }],
    studio: { sites: SITES },
    placements: [{ placement_id: 'home_hero', name: 'Top of the home page', template: 'hero' }],
    campaigns_from: 'studio',
    campaigns: [
      {
        campaign_id: 'welcome',
        name: 'Welcome',
        status: 'active',
        placements: ['home_hero'],
        variants: [
          {
            variant_id: 'a',
            properties: {
              headline: { type: 'string', value: "Hello {{${first_name} | default: 'there'}}" },
              body: { type: 'string', value: 'This is your first banner.' },
              button_text: { type: 'string', value: 'Go on' },
              link: { type: 'string', value: '/' },
            },
          },
        ],
      },
    ],
  };
  return { file, appId, clientKey, serverKey, operatorKey: operator.key };
};
