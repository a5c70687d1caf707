import { defineCommand } from 'citty';
import { serveMcp } from '../mcp/index.ts';
import { readSecret } from '../secrets/index.ts';
import { version } from '../version/index.ts';

const options = {
  'studio-url': {
    type: 'string',
    description: 'URL of the Studio as browsers reach it (PLACARD_STUDIO_URL)',
    valueHint: 'https://studio.example',
  },
} as const;

/** `placard mcp`: serves the Studio to an agent over stdio, with an operator's permissions. */
export const mcp = defineCommand({
  meta: { name: 'mcp', description: 'Serve the Studio to an agent, by MCP over stdio.' },
  args: options,
  run: async ({ args }) => {
    const studioUrl = args['studio-url'] ?? process.env['PLACARD_STUDIO_URL'];
    if (!studioUrl) throw new Error('specify --studio-url, such as --studio-url http://127.0.0.1:8788');
    if (!/^https?:/.test(studioUrl) || !URL.canParse(studioUrl)) {
      throw new Error(`--studio-url must be a URL such as https://studio.example, got "${studioUrl}"`);
    }
    const key = readSecret('PLACARD_OPERATOR_KEY');
    if (!key)
      throw new Error('set PLACARD_OPERATOR_KEY, or PLACARD_OPERATOR_KEY_FILE, to the key of an operator');
    await serveMcp({
      studioUrl,
      key,
      version: version(),
      // stdout is reserved for the protocol.
      onReady: ({ name, role }) =>
        process.stderr.write(
          `placard: serving MCP on stdio as ${name} (${role}) of ${new URL(studioUrl).origin}\n`,
        ),
    });
  },
});
