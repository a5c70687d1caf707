import { createRestClient, type RestClient } from '../server/index.ts';

/** Where the API is and the key to it, for the commands that call it. */
export const apiOptions = {
  endpoint: { type: 'string', description: 'Base URL of the API (PLACARD_ENDPOINT)', valueHint: 'URL' },
  instance: { type: 'string', description: 'Or a hosted instance (PLACARD_INSTANCE)', valueHint: 'EU-01' },
  key: {
    type: 'string',
    description: 'Server key; better in PLACARD_API_KEY, where no process list shows it',
    valueHint: 'KEY',
  },
} as const;

export const restClientOf = (args: {
  endpoint?: string | undefined;
  instance?: string | undefined;
  key?: string | undefined;
}): RestClient => {
  const { PLACARD_ENDPOINT, PLACARD_INSTANCE, PLACARD_API_KEY } = process.env;
  const apiKey = args.key ?? PLACARD_API_KEY;
  if (!apiKey) throw new Error('a server key is needed: set PLACARD_API_KEY, or give --key');
  // What is typed counts before what is set.
  const endpoint = args.endpoint ?? (args.instance ? undefined : PLACARD_ENDPOINT);
  const instance = args.instance ?? PLACARD_INSTANCE;
  if (endpoint) return createRestClient({ endpoint, apiKey });
  if (instance) return createRestClient({ instance: instance as never, apiKey });
  throw new Error('where the API is must be said: --endpoint or --instance');
};
