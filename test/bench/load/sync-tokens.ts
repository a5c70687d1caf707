// The key pair of the bench's own app: a token must be the same in the service's process and in the pump's.
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

/** A token as `signUserToken` makes it; another `serial` makes it another one. */
export const benchToken = (userId: string, serial: number): string => {
  const seconds = Math.floor(Date.now() / 1000);
  const claims = { sub: userId, aud: SIGNED_APP.app_id, iat: seconds, exp: seconds + 3_600, jti: serial };
  return aToken({ algorithm: 'EdDSA', privateKey, privatePem: '', publicPem, publicJwk: {} }, claims);
};
