import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Config, hasEmbeddedDatabase, loadConfig, settings } from '#config/config.ts';
import { wrongPayoutConfirmations, wrongTestPay } from '#config/order-settings.ts';
import { checkServedUtxos } from '#config/utxo-settings.ts';
import { AppError } from '#kernel/errors/app-error.ts';

function failure(act: () => unknown): AppError {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('did not throw');
}

describe('loadConfig', () => {
  test('has the defaults if nothing is set, and cannot be changed', () => {
    const config = loadConfig({ env: {} });
    expect(config).toMatchObject({ port: 7700, host: '127.0.0.1', dataDir: './data', logLevel: 'info' });
    expect(config.databaseUrl).toBeUndefined();
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('prefers a flag to the environment, and that to the defaults of a command and the general ones', () => {
    const port = (input: Partial<Parameters<typeof loadConfig>[0]>): number =>
      loadConfig({ env: {}, ...input }).port;
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: undefined }),
        fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: undefined }),
        fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: undefined }),
        (flag, variable, command) => {
          const found = port({
            flags: flag === undefined ? {} : { port: String(flag) },
            env: variable === undefined ? {} : { PORT: String(variable) },
            defaults: command === undefined ? {} : { port: command },
          });
          return found === (flag ?? variable ?? command ?? 7700);
        },
      ),
    );
  });

  test('counts an empty variable as absent', () => {
    expect(loadConfig({ env: { PORT: '', DATABASE_URL: '' } })).toEqual(loadConfig({ env: {} }));
  });

  test('gives a valid configuration or config_invalid for any texts, and never another error', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.integer().map(String),
      fc.double().map(String),
    );
    const env = fc.record(
      Object.fromEntries(settings.map(({ variable }) => [variable, fc.option(text, { nil: undefined })])),
    );
    fc.assert(
      fc.property(env, (values) => {
        let config: Config;
        try {
          config = loadConfig({ env: values });
        } catch (error) {
          return error instanceof AppError && error.code === 'config_invalid';
        }
        return (
          Number.isInteger(config.port) && config.port >= 0 && config.port <= 65_535 && config.host !== ''
        );
      }),
    );
  });

  test.each(['65536', '-1', '1e3', '0x10', ' 80', '80 ', '1.5', 'abc', '٣'])(
    'refuses the port %j',
    (port) => {
      expect(failure(() => loadConfig({ env: { PORT: port } })).message).toBe(
        `environment variable PORT: ${JSON.stringify(/^\d{1,15}$/u.test(port) ? Number(port) : port)} is not valid; it must be an integer from 0 to 65535`,
      );
    },
  );

  test('names everything that is wrong, with its origin', () => {
    const error = failure(() => loadConfig({ env: { LOG_LEVEL: 'loud' }, flags: { port: 'x' } }));
    expect(error.message).toContain('flag --port');
    expect(error.message).toContain('environment variable LOG_LEVEL');
  });

  test.each([
    { env: { ROLE: 'api' }, says: 'ROLE api needs DATABASE_READER_URL' },
    { env: { ROLE: 'indexer' }, says: 'ROLE indexer needs DATABASE_URL' },
    {
      env: { ROLE: 'indexer', DATABASE_READER_URL: 'postgres://reader@host/name' },
      says: 'ROLE indexer needs DATABASE_URL',
    },
    {
      env: { DATABASE_READER_URL: 'postgres://reader@host/name' },
      says: 'DATABASE_READER_URL needs DATABASE_URL',
    },
    { env: { BITCOIN_RPC_USER: 'a' }, says: 'must be set together or not at all' },
    { env: { BITCOIN_RPC_PASSWORD: 'a' }, says: 'must be set together or not at all' },
    {
      env: { BITCOIN_RPC_USER: 'a', BITCOIN_RPC_PASSWORD: 'b', BITCOIN_COOKIE_FILE: 'c' },
      says: 'exclude each other',
    },
    { env: { FAILPOINT: 'nowhere:1' }, says: 'unknown point nowhere; the points are fetch, parse' },
    // a batch cannot be held at this point
    { env: { FAILPOINT: 'fetch:1:held' }, says: 'unknown point fetch; the points are prepared, copying' },
  ])('refuses $env, which exclude each other', ({ env, says }) => {
    const error = failure(() => loadConfig({ env }));
    expect(error.code).toBe('config_invalid');
    expect(error.message).toContain(says);
  });

  test('takes the role that only answers without the address of the writer', () => {
    const env = { ROLE: 'api', DATABASE_READER_URL: 'postgres://reader@host/name' };
    expect(hasEmbeddedDatabase(loadConfig({ env }))).toBe(false);
    expect(hasEmbeddedDatabase(loadConfig({ env: {} }))).toBe(true);
  });

  test('refuses confirmations of orders whose amounts do not ascend', () => {
    const error = failure(() => loadConfig({ env: { ORDER_CONFIRMATIONS: '0:1,100:3,100:2' } }));
    expect(error.message).toContain('ORDER_CONFIRMATIONS');
    expect(loadConfig({ env: { ORDER_CONFIRMATIONS: '0:1,100:3' } }).orderConfirmations).toBe('0:1,100:3');
  });

  test('refuses payouts of deliveries that are not deep enough, on all networks except regtest', () => {
    const load = (network: string, confirmations: number): Config =>
      loadConfig({ env: { NETWORK: network, PAYOUT_CONFIRMATIONS: String(confirmations) } });
    for (const network of ['mainnet', 'testnet3', 'testnet4', 'signet']) {
      const error = failure(() => load(network, 5));
      expect(error.code).toBe('config_invalid');
      expect(error.message).toMatch(
        /^PAYOUT_CONFIRMATIONS: 5 is not valid on \w+\. It must be at least 6, because /u,
      );
      expect(load(network, 6).payoutConfirmations).toBe(6);
    }
    expect(load('regtest', 1).payoutConfirmations).toBe(1);
    // the network becomes known later, from the node or the database
    const unset = loadConfig({ env: { PAYOUT_CONFIRMATIONS: '5' } });
    expect(wrongPayoutConfirmations(unset, 'mainnet')).toHaveLength(1);
    expect(wrongPayoutConfirmations(unset, 'regtest')).toEqual([]);
  });

  test('refuses test payments on mainnet', () => {
    const load = (network: string): Config =>
      loadConfig({ env: { NETWORK: network, TOKENPAY_TEST_PAY: '500000' } });
    expect(failure(() => load('mainnet'))).toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('TOKENPAY_TEST_PAY') as string,
    });
    for (const network of ['testnet3', 'testnet4', 'signet', 'regtest'])
      expect(load(network).tokenpayTestPay).toBe(500_000);
    // the network becomes known later, from the node or the database
    const unset = loadConfig({ env: { TOKENPAY_TEST_PAY: '500000' } });
    expect(wrongTestPay(unset, 'mainnet')).toHaveLength(1);
    expect(wrongTestPay(loadConfig({ env: {} }), 'mainnet')).toEqual([]);
  });

  test('refuses a text that is not an output descriptor, and does not show it', () => {
    const load = (descriptor: string): Config => loadConfig({ env: { INVENTORY_DESCRIPTOR: descriptor } });
    for (const wrong of ['garbage', 'tr', 'tr(', 'tr()', 'TR(a)', 'tr(a)#short', ' tr(a)', 'tr(a) ']) {
      const error = failure(() => load(wrong));
      expect([wrong, error.code]).toEqual([wrong, 'config_invalid']);
      expect(error.message).toBe('INVENTORY_DESCRIPTOR is not an output descriptor such as tr(xpub…/0/*)');
    }
    for (const good of ['addr(bcrt1q)', 'tr([d34db33f/86h/0h/0h]xpub/<0;1>/*)#0123abcd', 'sh(wpkh(03ab))'])
      expect(load(good).inventoryDescriptor).toBe(good);
  });

  test('lets a service use an index of addresses that it makes, and no other', () => {
    const check = (env: Record<string, string>) => () => checkServedUtxos(loadConfig({ env }));
    const error = failure(check({ UTXO_SOURCE: 'index' }));
    expect(error.code).toBe('config_invalid');
    expect(error.message).toBe('UTXO_SOURCE index needs --index-addresses (INDEX_ADDRESSES)');
    check({})();
    check({ UTXO_SOURCE: 'index', INDEX_ADDRESSES: 'true' })();
    // another process makes this index
    check({ UTXO_SOURCE: 'index', ROLE: 'api', DATABASE_URL: 'postgres://reader@host/name' })();
  });

  test('does not show a secret that is wrong', () => {
    const error = failure(() => loadConfig({ env: { DATABASE_URL: 'mysql://user:hidden-word@host/db' } }));
    expect(error.message).toContain('DATABASE_URL');
    expect(error.message).not.toContain('hidden-word');
  });
});

describe('settings', () => {
  test('each have a variable, a description and values in words', () => {
    for (const setting of settings) {
      expect(setting.variable).toMatch(/^[A-Z]+(_[A-Z]+)*$/u);
      expect(setting.description.length).toBeGreaterThan(10);
      expect(setting.values.length).toBeGreaterThan(3);
    }
    expect(new Set(settings.map(({ variable }) => variable)).size).toBe(settings.length);
  });
});
