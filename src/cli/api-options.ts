import { type Instance, parseInstance } from '../protocol/index.ts';
import { readSecret } from '../secrets/index.ts';
import { createRestClient, type RestClient, type RestClientOptions } from '../server/index.ts';

/** Endpoint and key options of commands that call the API. */
export const apiOptions = {
  endpoint: { type: 'string', description: 'Base URL of the API (PLACARD_ENDPOINT)', valueHint: 'URL' },
  instance: { type: 'string', description: 'Or a hosted instance (PLACARD_INSTANCE)', valueHint: 'EU-01' },
  key: {
    type: 'string',
    description: 'Server key; prefer PLACARD_API_KEY, as process lists show options',
    valueHint: 'KEY',
  },
} as const;

type ApiArgs = { [Name in keyof typeof apiOptions]?: string | undefined };
type More = Pick<RestClientOptions, 'onRetry'>;

/** Returns the endpoint or instance from the arguments, otherwise from the environment. */
export const getAddress = (args: ApiArgs): { endpoint: string } | { instance: Instance } => {
  const { PLACARD_ENDPOINT, PLACARD_INSTANCE } = process.env;
  // Arguments take precedence over variables.
  const endpoint = args.endpoint ?? (args.instance ? undefined : PLACARD_ENDPOINT);
  const instance = args.instance ?? PLACARD_INSTANCE;
  if (endpoint) return { endpoint };
  if (instance) return { instance: parseInstance(instance) };
  throw new Error('no API address: set --endpoint (http://127.0.0.1:8787), --instance or PLACARD_ENDPOINT');
};

export const createClient = (args: ApiArgs, more: More = {}): RestClient => {
  const apiKey = args.key ?? readSecret('PLACARD_API_KEY');
  if (!apiKey) throw new Error('missing server key: set PLACARD_API_KEY or --key');
  return createRestClient({ ...getAddress(args), apiKey, ...more });
};
