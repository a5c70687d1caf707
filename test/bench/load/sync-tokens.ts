// A fixed key pair, because tokens must be equal in the processes of the service and the load generator.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { aToken } from '../../helpers/token-keys.ts';

const privateKey = createPrivateKey({
  key: {
    kty: 'OKP',
    crv: 'Ed25519',
    d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  },
  format: 'jwk',
});
const publicPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();

export const SIGNED_APP = {
  app_id: 'bench-signed-app',
  user_tokens: 'required',
  user_token_keys: [publicPem],
};

/** Returns a token like `signUserToken`'s, distinct by `serial`. */
export const benchToken = (userId: string, serial: number): string => {
  const seconds = Math.floor(Date.now() / 1000);
  const claims = { sub: userId, aud: SIGNED_APP.app_id, iat: seconds, exp: seconds + 3_600, jti: serial };
  return aToken({ algorithm: 'EdDSA', privateKey, privatePem: '', publicPem, publicJwk: {} }, claims);
};
