import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export interface IdentityProvider {
  issuer: string;
  /** Claims of the next sign-in. */
  claims: Record<string, unknown>;
  /** Changes the ID token before it is signed, to simulate a faulty provider. */
  spoil: (payload: Record<string, unknown>) => Record<string, unknown>;
  /** Signs with an unpublished key. */
  signsWithForeignKey: boolean;
  stop(): Promise<void>;
}

/** An OpenID provider that signs in everyone without a prompt. Verifies PKCE and the client secret. */
export const runIdentityProvider = async (secret: string): Promise<IdentityProvider> => {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const foreign = await generateKeyPair('RS256');
  const codes = new Map<string, { challenge: string; nonce: string; client: string }>();

  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, provider.issuer);
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (url.pathname === '/.well-known/openid-configuration') {
      return json(200, {
        issuer: provider.issuer,
        authorization_endpoint: `${provider.issuer}/authorize`,
        token_endpoint: `${provider.issuer}/token`,
        jwks_uri: `${provider.issuer}/keys`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
      });
    }
    if (url.pathname === '/keys') return json(200, { keys: [jwk] });
    if (url.pathname === '/authorize') {
      const code = `code-${codes.size}`;
      const { code_challenge, nonce, client_id, redirect_uri, state } = Object.fromEntries(url.searchParams);
      codes.set(code, { challenge: code_challenge!, nonce: nonce!, client: client_id! });
      response.writeHead(302, {
        location: `${redirect_uri}?${new URLSearchParams({ code, state: state! })}`,
      });
      return response.end();
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const form = new URLSearchParams(body);
    const known = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (known?.challenge !== challenge || form.get('client_secret') !== secret) {
      return json(400, { error: 'invalid_grant' });
    }
    const payload = provider.spoil({
      nonce: known.nonce,
      sub: 'u-1',
      iss: provider.issuer,
      aud: known.client,
      ...provider.claims,
    });
    const token = await new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(provider.signsWithForeignKey ? foreign.privateKey : privateKey);
    return json(200, { access_token: 'x', token_type: 'Bearer', id_token: token });
  });
  const provider: IdentityProvider = {
    issuer: '',
    claims: {},
    spoil: (payload) => payload,
    signsWithForeignKey: false,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  provider.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
};
