import { describe, expect, test } from 'vitest';
import { readPostgresAddress, withTlsMode } from '#kernel/pg/connection/postgres-address.ts';

const base = 'postgres://user:word@db.example:5432/satscribe';
const tlsOf = (url: string): unknown => {
  const address = readPostgresAddress(url);
  return address.kind === 'address' ? address.tls.mode : address;
};

describe('the address of a Postgres', () => {
  test.each([
    base,
    'postgresql://db.example/satscribe',
    'postgres://user@[::1]:5433/satscribe',
    'postgres:///satscribe',
    'postgres://user@/satscribe',
    'postgres://user:w%40rd%2F@db/x',
    'postgres://user:w%@db/x',
  ])('can be %s', (url) => {
    expect(readPostgresAddress(url)).toMatchObject({ kind: 'address', url, tls: { mode: null } });
  });

  test('loses parameters that only other drivers know, and those that our sessions set themselves', () => {
    const noise =
      'pgbouncer=true&schema=public&channel_binding=require&connect_timeout=10&statement_timeout=1&binary=true&client_encoding=LATIN1';
    expect(readPostgresAddress(`${base}?${noise}`)).toMatchObject({ url: base });
    expect(readPostgresAddress(`${base}?options=endpoint%3Dx&${noise}&sslmode=require`)).toMatchObject({
      url: `${base}?options=endpoint%3Dx`,
      tls: { mode: 'require' },
    });
  });

  test.each([
    ['sslmode=verify-ca', 'sslmode=verify-ca needs sslrootcert'],
    ['sslmode=requrie', 'sslmode must be one of disable, allow, prefer, require, verify-ca, verify-full'],
    ['ssl=maybe', 'ssl must be'],
    ['sslmode=verify-full&sslcert=/a.pem', 'sslcert and sslkey must be set together'],
    ['sslmode=verify-full&sslcrl=/a.pem', 'the parameter sslcrl is not supported'],
    ['port=abc', 'port must be a number'],
    ['sslnegotiation=now', 'sslnegotiation must be postgres or direct'],
    ['sslnegotiation=direct&sslmode=prefer', 'needs sslmode=require or stricter, not prefer'],
    [
      'sslmode=require&ssl_min_protocol_version=TLSv1.3',
      'the parameter ssl_min_protocol_version is not supported',
    ],
  ])('with %s is refused', (parameters, why) => {
    expect(readPostgresAddress(`${base}?${parameters}`)).toEqual({
      kind: 'wrong',
      why: expect.stringContaining(why) as string,
    });
  });

  test.each([
    ['postgres://user:pa#ss@db/x', 'not a URL'],
    ['postgres://user:pa/ss@db/x', 'not a URL'],
    ['postgres://db:70000/x', 'not a URL'],
    ['postgres://one.example,two.example/x', 'several servers'],
    ['postgres://one.example:1,two.example:2/x', 'several servers'],
  ])('%s is refused, without its password', (url, why) => {
    expect(readPostgresAddress(url)).toEqual({ kind: 'wrong', why: expect.stringContaining(why) as string });
  });

  test.each([
    ['sslmode=require&sslrootcert=/a.pem', 'verify-ca'],
    ['sslmode=require&sslrootcert=system', 'verify-full'],
    ['sslmode=no-verify&sslrootcert=/a.pem', 'require'],
    ['sslmode=require&sslmode=disable', 'disable'],
    ['sslmode=', null],
    ['ssl=0', 'disable'],
    ['sslnegotiation=direct', 'verify-full'],
    ['host=/var/run/postgresql&sslmode=require', 'disable'],
  ])('with %s has the mode %s', (parameters, mode) => {
    expect(tlsOf(`${base}?${parameters}`)).toBe(mode);
  });

  test('of a socket has no TLS, whatever it says', () => {
    expect(tlsOf('postgres://user@%2Fvar%2Frun%2Fpostgresql/x?sslmode=verify-full')).toBe('disable');
  });

  test('with another mode keeps the rest', () => {
    expect(withTlsMode(base, 'require')).toBe(`${base}?sslmode=require`);
    expect(withTlsMode(`${base}?sslmode=prefer&sslrootcert=%2Fa.pem`, 'require')).toBe(
      `${base}?sslmode=require&sslrootcert=%2Fa.pem`,
    );
  });
});
