import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '#config/config.ts';
import {
  type Answers,
  askedNames,
  changesOf,
  envFileText,
  faultOf,
  keptVariables,
} from '#src/app/setup/env-file.ts';

const some: Answers = {
  network: 'signet',
  bitcoinRpcUrl: 'http://127.0.0.1:38332',
  bitcoinCookieFile: '/home/a/.bitcoin/signet/.cookie',
  dataDir: './data',
  port: '7700',
};

/** Texts with everything that files of settings treat specially. */
const texts = fc
  .string({
    unit: fc.constantFrom(
      'a',
      'Z',
      '0',
      ' ',
      '#',
      '=',
      '$',
      '{',
      '}',
      "'",
      '`',
      '"',
      '\\',
      'n',
      '/',
      '.',
      'ä',
      '😀',
    ),
    minLength: 1,
    maxLength: 40,
  })
  .map((text) => text.trim())
  .filter((text) => text !== '');

const answers: fc.Arbitrary<Answers> = fc.record(
  {
    network: fc.constantFrom('mainnet', 'testnet3', 'testnet4', 'signet', 'regtest'),
    bitcoinRpcUrl: fc.webUrl(),
    bitcoinCookieFile: texts,
    dataDir: texts,
    port: fc.integer({ min: 0, max: 65_535 }).map(String),
    host: texts,
    publicUrl: fc.constantFrom('https://ord.example.com', 'http://127.0.0.1:80'),
    trustProxy: fc.constantFrom('loopback', '10.0.0.0/8,192.168.1.1'),
    searchAccess: fc.constantFrom('open', 'restricted'),
    searchAllowedDomains: fc.constantFrom('example.com', '*.example.com,example.org'),
    indexAddresses: fc.boolean().map(String),
    indexSats: fc.boolean().map(String),
    walletSeedFile: texts,
    filesDir: texts,
  },
  { requiredKeys: [] },
);

describe('the text of .env', () => {
  test('gives exactly the answers as settings, or the answers are refused', () => {
    let accepted = 0;
    fc.assert(
      fc.property(answers, (given) => {
        if (faultOf(given) !== null) return;
        accepted += 1;
        const config = loadConfig({ env: parseEnv(envFileText(given)) });
        for (const name of askedNames) {
          const usual = loadConfig({ env: {} })[name];
          expect(config[name] === undefined ? undefined : String(config[name])).toBe(
            given[name] ?? (usual === undefined ? undefined : String(usual)),
          );
        }
      }),
    );
    expect(accepted).toBeGreaterThan(0);
  });

  test('has each asked setting once, below its description', () => {
    const lines = envFileText(some).split('\n');
    for (const name of askedNames) {
      const variable = name.replaceAll(/[A-Z]/gu, (letter) => `_${letter}`).toUpperCase();
      const places = lines.flatMap((line, place) =>
        new RegExp(`^#?${variable}=`, 'u').test(line) ? [place] : [],
      );
      expect(places, variable).toHaveLength(1);
      expect(lines[places[0]! - 1]).toMatch(/^# /u);
    }
  });

  test('keeps other variables of the earlier file', () => {
    const { values, lost } = keptVariables("PORT=1\nORDER_BASE_FEE=5000\nTZ='Europe/Berlin #1'\n");
    expect(values).toEqual({ ORDER_BASE_FEE: '5000', TZ: 'Europe/Berlin #1' });
    expect(lost).toEqual([]);
    expect(parseEnv(envFileText(some, values))).toMatchObject({ ...values, PORT: '7700' });
  });

  test('names variables with line breaks, which it cannot keep', () => {
    expect(keptVariables('CA="a\nb"\n')).toEqual({ values: {}, lost: ['CA'] });
  });
});

describe('answers', () => {
  test.each([
    { given: { port: '70000' }, says: 'it must be an integer from 0 to 65535' },
    { given: { network: 'bitcoin' }, says: 'it must be one of mainnet' },
    { given: { bitcoinRpcUser: 'a' }, says: 'BITCOIN_RPC_PASSWORD' },
    { given: { publicUrl: 'ord.example.com' }, says: 'is not valid' },
    { given: { trustProxy: 'the proxy' }, says: 'TRUST_PROXY: the proxy is not a list' },
    { given: { searchAccess: 'keys', searchAllowedDomains: 'a.com' }, says: 'exclude each other' },
    { given: { dataDir: 'a\nb' }, says: 'cannot hold line breaks' },
    { given: { dataDir: `'"\`` }, says: 'three kinds of quotes' },
  ])('$given are refused with the reason', ({ given, says }) => {
    expect(faultOf(given)).toContain(says);
  });

  test('never show a secret in a reason', () => {
    expect(faultOf({ databaseUrl: 'mysql://a:hunter2@b/c' })).not.toContain('hunter2');
  });

  test('are compared with an earlier file: written defaults are no changes, and secrets are hidden', () => {
    const earlier = 'NETWORK=signet\nDATABASE_URL=postgres://a:hunter2@b/c\nPORT=7701\n';
    expect(changesOf(earlier, { network: 'signet', port: '7700', host: '127.0.0.1' })).toEqual([
      { variable: 'DATABASE_URL', before: '(secret)', after: null },
      { variable: 'PORT', before: '7701', after: '7700' },
    ]);
  });
});
