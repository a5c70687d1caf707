// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { CLIENT_PERMISSIONS, SERVER_PERMISSIONS } from '../protocol/index.ts';

const newKey = (kind: string) => `placard_${kind}_${randomBytes(24).toString('base64url')}`;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** A small workspace to begin with: one app, one placement, one campaign for everyone, and keys of its own. */
export const starterWorkspace = () => {
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
    placements: [{ placement_id: 'home_hero', name: 'Top of the home page' }],
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
  return { file, appId, clientKey, serverKey };
};
