// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { defineCommand } from 'citty';
import { CLIENT_PERMISSIONS, SERVER_PERMISSIONS, SYNC_PATH } from '../protocol/index.ts';
import { newOperatorKey } from '../studio/index.ts';

const newKey = (kind: string) => `placard_${kind}_${randomBytes(24).toString('base64url')}`;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Default URLs of common development servers. */
const SITES = ['http://localhost:3000', 'http://localhost:5173'];

/**
 * Creates a starter workspace with an app, a placement, a campaign for all users, generated keys, and a Studio that can publish.
 */
const starterWorkspace = () => {
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
    operators: [{ name: 'Admin', role: 'admin', can_view_users: true, key_sha256: operator.sha256 }],
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

const DEFAULT_FILE = 'workspace.json';
/** Path of the schema in an app that has installed the package. */
const SCHEMA = 'node_modules/placard/dist/workspace.schema.json';

const options = {
  file: {
    type: 'positional',
    description: `File to write; default ${DEFAULT_FILE}`,
    required: false,
  },
} as const;

/** Returns the `$schema` property for editors, if the package is installed next to the file. */
const schemaMember = (file: string) =>
  existsSync(SCHEMA) ? { $schema: `./${relative(dirname(file), SCHEMA).split(sep).join('/')}` } : {};

/** `placard init`: creates a workspace file. Prints the keys once; the file contains only their hashes. */
export const init = defineCommand({
  meta: { name: 'init', description: 'Write a small workspace file with keys of its own.' },
  args: options,
  run: ({ args }) => {
    const path = args.file ?? DEFAULT_FILE;
    const { file, appId, clientKey, serverKey, operatorKey } = starterWorkspace();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify({ ...schemaMember(path), ...file }, null, 2)}\n`, { flag: 'wx' });
    const body = { external_user_id: 'u-1', app_id: appId, app_version: '1.0.0', placements: ['home_hero'] };
    process.stdout.write(`Wrote ${path}: one app, one placement and one campaign that everyone sees.

  app id         ${appId}
  client key     ${clientKey}   (public: for your pages)
  server key     ${serverKey}   (secret: for your backend)
  operator key   ${operatorKey}   (secret: signs "Admin" in to the Studio)

Keep the keys: the file holds only their SHA-256, and they are not shown again.

Now start the service, with the Studio on http://127.0.0.1:8788:

  npx placard serve${path === DEFAULT_FILE ? '' : ` --workspace ${path}`} --studio-port 8788

and ask for the banner from another terminal:

  curl -s http://127.0.0.1:8787${SYNC_PATH} -H 'Authorization: Bearer ${clientKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'
`);
  },
});
