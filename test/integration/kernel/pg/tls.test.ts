import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { checkServer } from '#kernel/pg/check-server.ts';
import { settleTls } from '#kernel/pg/connection/settle-tls.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import {
  type Certificates,
  makeCertificates,
  openTlsFront,
  type TlsFront,
} from '#test/support/postgres/tls-front.ts';

/**
 * Servers with different TLS settings: without TLS, with a certificate for their name, with a certificate for another
 * name, and with TLS only.
 */
type ServerKind = 'plain' | 'named' | 'misnamed' | 'demanding' | 'mutual';

let certificates: Certificates;
const fronts: TlsFront[] = [];
const urls = new Map<ServerKind, (parameters: string) => string>();

beforeAll(async () => {
  certificates = await makeCertificates();
  const { path, sign, authority } = certificates;
  await Promise.all([
    sign('named', 'DNS:localhost,IP:127.0.0.1'),
    sign('misnamed', 'DNS:database.example'),
    sign('client', 'DNS:client.example'),
  ]);
  const { url } = inject('testServer');
  const open = async (kind: ServerKind, name: string, more: object = {}): Promise<void> => {
    const front = await openTlsFront(url, {
      certificate: path(`${name}.pem`),
      key: path(`${name}.key`),
      ...more,
    });
    fronts.push(front);
    urls.set(kind, front.url);
  };
  await open('named', 'named');
  await open('misnamed', 'misnamed');
  await open('demanding', 'named', { demandsTls: true });
  await open('mutual', 'named', { demandsTls: true, clientAuthority: authority });
  urls.set('plain', (parameters) => {
    const address = new URL(url);
    address.search = parameters;
    return address.href;
  });
});
afterAll(async () => {
  await Promise.all(fronts.map((front) => front.close()));
  await certificates.remove();
});

/** The URL of a server with these parameters. `ROOT`, `CERT` and `KEY` are replaced by paths of files. */
function addressOf(server: ServerKind, parameters: string): string {
  const files = { ROOT: 'authority.pem', CERT: 'client.pem', KEY: 'client.key', OTHER: 'client.pem' };
  const named = Object.entries(files).reduce(
    (text, [word, file]) => text.replace(`=${word}`, `=${encodeURIComponent(certificates.path(file))}`),
    parameters,
  );
  return (urls.get(server) as (parameters: string) => string)(named);
}

/** The outcome of a process's start. */
async function outcome(server: ServerKind, parameters: string): Promise<string> {
  try {
    await checkServer(await settleTls(addressOf(server, parameters)));
    return 'connected';
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code}: ${message}`;
  }
}

describe('sslmode has the meaning of libpq', () => {
  test.each<[mode: string, plain: string, named: string, misnamed: string, demanding: string]>([
    ['', 'connected', 'connected', 'connected', 'postgres_refused'],
    ['sslmode=disable', 'connected', 'connected', 'connected', 'postgres_refused'],
    ['sslmode=allow', 'connected', 'connected', 'connected', 'connected'],
    ['sslmode=prefer', 'connected', 'connected', 'connected', 'connected'],
    ['sslmode=require', 'postgres_tls', 'connected', 'connected', 'connected'],
    ['sslmode=no-verify', 'postgres_tls', 'connected', 'connected', 'connected'],
    ['uselibpqcompat=true&sslmode=require', 'postgres_tls', 'connected', 'connected', 'connected'],
    ['sslmode=require&sslrootcert=ROOT', 'postgres_tls', 'connected', 'connected', 'connected'],
    ['sslmode=require&sslrootcert=OTHER', 'postgres_tls', 'postgres_tls', 'postgres_tls', 'postgres_tls'],
    ['sslmode=verify-ca&sslrootcert=ROOT', 'postgres_tls', 'connected', 'connected', 'connected'],
    ['sslmode=verify-full&sslrootcert=ROOT', 'postgres_tls', 'connected', 'postgres_tls', 'connected'],
    ['sslrootcert=ROOT', 'postgres_tls', 'connected', 'postgres_tls', 'connected'],
    ['sslmode=verify-full', 'postgres_tls', 'postgres_tls', 'postgres_tls', 'postgres_tls'],
    [
      'sslmode=verify-full&sslrootcert=system',
      'postgres_tls',
      'postgres_tls',
      'postgres_tls',
      'postgres_tls',
    ],
    ['ssl=true', 'postgres_tls', 'postgres_tls', 'postgres_tls', 'postgres_tls'],
    ['sslmode=verify-ca', 'config_invalid', 'config_invalid', 'config_invalid', 'config_invalid'],
  ])('%s', async (parameters, ...expected) => {
    const servers: ServerKind[] = ['plain', 'named', 'misnamed', 'demanding'];
    const found = await Promise.all(servers.map((server) => outcome(server, parameters)));
    expect(found.map((one) => one.split(':', 1)[0])).toEqual(expected);
  });
});

describe('a message says what happened', () => {
  test.each<[ServerKind, string, RegExp]>([
    ['named', 'sslmode=verify-full', /answers, but its certificate is not trusted: /u],
    [
      'misnamed',
      'sslmode=verify-full&sslrootcert=ROOT',
      /its certificate is not trusted: .*not in the cert's list/u,
    ],
    ['plain', 'sslmode=require', /by TLS failed: The server does not support SSL/u],
    [
      'demanding',
      '',
      /refused the connection: .*no encryption \(if the server demands TLS, its address needs sslmode=require/u,
    ],
    ['named', 'sslmode=verify-ca', /sslmode=verify-ca needs sslrootcert/u],
    [
      'named',
      'sslmode=verify-full&sslrootcert=/missing.pem',
      /sslrootcert \/missing.pem cannot be read \(ENOENT\)/u,
    ],
    ['mutual', 'sslmode=require', /^postgres_tls: /u],
    ['named', 'sslmode=verify-full&sslrootcert=KEY', /^postgres_tls: /u],
  ])('of %s with %s', async (server, parameters, words) => {
    expect(await outcome(server, parameters)).toMatch(words);
  });

  test('of a pool, too', async () => {
    const pool = createPool(addressOf('named', 'sslmode=verify-full'));
    const error = await pool.query('SELECT 1').catch((thrown: unknown) => thrown);
    expect(postgresFailure(error)).toMatchObject({ code: 'postgres_tls' });
    await pool.end();
  });
});

test('a server that demands a certificate gets ours', async () => {
  expect(await outcome('mutual', 'sslmode=require&sslcert=CERT&sslkey=KEY')).toBe('connected');
  expect(await outcome('mutual', 'sslmode=verify-full&sslrootcert=ROOT&sslcert=CERT&sslkey=KEY')).toBe(
    'connected',
  );
});

test('a connection may begin with TLS', async () => {
  const direct = 'sslnegotiation=direct';
  expect(await outcome('demanding', `sslmode=require&${direct}`)).toBe('connected');
  expect(await outcome('named', `${direct}&sslrootcert=ROOT`)).toBe('connected');
  expect(await outcome('named', direct)).toMatch(/^postgres_tls: /u);
  expect(await outcome('plain', `sslmode=require&${direct}`)).toMatch(/^postgres_tls: /u);
});

test('a pool connects by TLS as its address says', async () => {
  const pool = createPool(addressOf('demanding', 'sslmode=verify-full&sslrootcert=ROOT'));
  const { rows } = await pool.query<{ one: number }>('SELECT 1 AS one');
  expect(rows).toEqual([{ one: 1 }]);
  await pool.end();
});
