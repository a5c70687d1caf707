import { expect, test } from 'vitest';
import { normalizeSslMode } from '../../../src/service/store/postgres/connect.ts';

test.each([
  ['postgres://h/db', undefined, 'postgres://h/db'],
  ['postgres://h/db?sslmode=require', undefined, 'postgres://h/db?sslmode=require&uselibpqcompat=true'],
  [
    'postgres://h/db?application_name=b&sslmode=verify-ca',
    undefined,
    'postgres://h/db?application_name=b&sslmode=verify-ca&uselibpqcompat=true',
  ],
  ['postgres://h/db?sslmode=verify-full', 'require', 'postgres://h/db?sslmode=verify-full'],
  ['postgres://h/db?sslmode=disable', 'require', 'postgres://h/db?sslmode=disable'],
  ['postgres://h/db', 'require', 'postgres://h/db?sslmode=require&uselibpqcompat=true'],
  [
    'postgres://h/db?application_name=b',
    'verify-ca',
    'postgres://h/db?application_name=b&sslmode=verify-ca&uselibpqcompat=true',
  ],
  ['postgres://h/db', 'disable', 'postgres://h/db'],
])('%s with PGSSLMODE=%s', (url, mode, expected) => {
  expect(normalizeSslMode(url, mode)).toBe(expected);
});

test.each(['sslmod=require', 'SSLMODE=require', 'application_name=b&ssl_mode=require', 'sslmode =require'])(
  'rejects a URL with ?%s by name, without its password',
  (parameters) => {
    expect(() => normalizeSslMode(`postgres://u:secret@h/db?${parameters}`, undefined)).toThrow(
      /^the URL has a parameter '(?:sslmod|SSLMODE|ssl_mode|sslmode )': write 'sslmode'$/,
    );
  },
);

test.each([
  'postgres://u:p@ep-x-pooler.eu.aws.neon.tech/db?sslmode=require&channel_binding=require&options=endpoint%3Dx',
  'postgres://u:p@aws-0.pooler.supabase.com:5432/postgres?pgbouncer=true&connection_limit=1&supa=base-pooler.x',
  'postgres://u:p@h/db?schema=public&pool_timeout=10&connect_timeout=5&sslaccept=strict',
  'postgres://u:p@h/db?sslrootcert=%2Fca.pem&sslmode=verify-full&sslnegotiation=direct&gssencmode=disable',
  'postgres://u@%2Fvar%2Frun%2Fpostgresql/db?target_session_attrs=read-write&keepalives_idle=30&sslcrl=x',
  'postgres://u:p@/db?host=/tmp&port=5433&dbname=db',
])('accepts a provider’s URL: %s', (url) => {
  expect(normalizeSslMode(url, undefined)).toContain(url);
});
