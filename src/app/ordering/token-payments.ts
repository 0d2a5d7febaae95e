import { strict as assert } from 'node:assert';
import type { Config } from '#config/config.ts';
import { specialSatsOf } from '#config/order-settings.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { isAdvisoryLockHeld } from '#kernel/pg/advisory-lock.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { confirmationsFor } from '#orders/order/order-policy.ts';
import { wakeOrders } from '#orders/order/order-wishes.store.ts';
import { urlProblem } from '#outgoing/stranger-url.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { openAnsweringPool } from '#src/app/database/answering-pool.ts';
import type { AnsweringDatabase, Database } from '#src/app/database/database.ts';
import { TestPayments } from '#test-payments/test-payments.ts';
import { followTokenOrders } from '#tokenpay/following/follow-token-orders.ts';
import { type CreditingPolicy, parseTokenPolicy, type TokenPolicy } from '#tokenpay/order/token-policy.ts';
import { ShopOrders } from '#tokenpay/shop-orders.ts';
import { AccountWithdrawals } from '#tokenpay/withdrawing/account-withdrawals.ts';
import type { WebhookKeys } from '#webhooks/webhook-keys.ts';
import { withdrawalFeeRates } from '#withdrawals/asking-parts.ts';
import { keysOnce } from './keys-once.ts';
import { requireTestNetwork } from './network-settings.ts';
import { orderPolicyOf } from './order-policy-of.ts';
import { openWebhookKeys } from './webhooks.ts';

/**
 * Maximum number of connections for creations and reads of shop orders. They are separate so that shops do not wait for
 * searches.
 */
const connectionsMax = 4;
const statementTimeoutMs = 15_000;

/** Opens the orders of shops in a process that answers requests. This process needs no seed. */
export function openShopOrders(
  { config, lifecycle, logger }: CommandContext,
  database: AnsweringDatabase,
): ShopOrders {
  const log = logger.child({ part: 'token payments' });
  const pool = openAnsweringPool({ lifecycle, log }, database, {
    applicationName: 'satscribe shop orders',
    part: 'token payments connections',
    max: connectionsMax,
    statementTimeoutMs,
  });
  let secrets: WebhookKeys | null = null;
  const orderPolicy = orderPolicyOf(config);
  return new ShopOrders({
    pool,
    keys: keysOnce(pool, (wallet, leases) => ({ wallet, leases })),
    isSignerThere: () => isAdvisoryLockHeld(pool, 'orders'),
    secrets: async () => {
      secrets ??= await openWebhookKeys(config);
      return secrets;
    },
    baseFee: config.tokenpayBaseFee,
    timeoutMinutes: config.orderTimeoutMinutes,
    policy: tokenPolicyOf(config),
    orderConfirmations: (sats) => confirmationsFor(orderPolicy, sats),
    urlProblem: (url) => urlProblem(url, { allowPrivate: config.allowPrivateUrls }),
  });
}

/**
 * Returns the secret bytes from which the key of the test wallet is made. Throws `service_secret_missing` and
 * `service_secret_invalid`.
 */
export const testPaymentsSecret = async (config: Config): Promise<Uint8Array> =>
  (await openWebhookKeys(config)).sharedSecret('test payments');

/** Opens the withdrawals of accounts in a process that answers requests. This process needs no seed. */
export function openAccountWithdrawals(
  { config, lifecycle, logger }: CommandContext,
  database: AnsweringDatabase,
): AccountWithdrawals {
  const log = logger.child({ part: 'withdrawals' });
  const pool = openAnsweringPool({ lifecycle, log }, database, {
    applicationName: 'satscribe withdrawals',
    part: 'connections of withdrawals',
    max: 2,
    statementTimeoutMs,
  });
  const { withdrawFeePayer: feePayer, withdrawDebtMaxSats, withdrawInputsMax: inputsMax } = config;
  return new AccountWithdrawals({
    pool,
    wallet: keysOnce(pool, (wallet) => wallet.identity),
    isSignerThere: () => isAdvisoryLockHeld(pool, 'orders'),
    secrets: () => openWebhookKeys(config),
    feeRates: withdrawalFeeRates,
    wake: wakeOrders,
    policy: { feePayer, debtMax: BigInt(withdrawDebtMaxSats), inputsMax },
    urlProblem: (url) => urlProblem(url, { allowPrivate: config.allowPrivateUrls }),
  });
}

/**
 * Opens test payments, which are made one at a time. Returns `null` if the settings do not allow them. Throws
 * `config_invalid` on mainnet.
 */
export function openTestPayments(
  { config, lifecycle, logger }: CommandContext,
  database: AnsweringDatabase,
  network: NetworkName,
  satributes: () => SatributeBook,
): TestPayments | null {
  requireTestNetwork(config, network);
  if (config.tokenpayTestPay === 0) return null;
  const log = logger.child({ part: 'test payments' });
  const pool = openAnsweringPool({ lifecycle, log }, database, {
    applicationName: 'satscribe test payments',
    part: 'connection of test payments',
    max: 1,
    statementTimeoutMs,
  });
  const payments = new TestPayments({
    pool,
    secret: () => testPaymentsSecret(config),
    network: networks[network],
    dayMaxSats: config.tokenpayTestPay,
    special: specialSatributes(config, satributes),
  });
  void payments.address().then(
    (address) =>
      log.info(
        { address, satsADay: config.tokenpayTestPay },
        'test payments are on. Send sats to this address, and also units of the runes that orders ask for, each in an output of its own',
      ),
    (error: unknown) => log.warn({ err: error }, 'test payments cannot be made'),
  );
  return payments;
}

/** Credits payments of shops' orders for the life of the process, if it has the seed of the wallet. */
export function startTokenOrders(
  { config, lifecycle, logger }: CommandContext,
  { url }: Database,
  satributes: () => SatributeBook,
): void {
  if (lifecycle.signal.aborted || config.walletSeedFile === undefined) return;
  const log = logger.child({ part: 'token payments' });
  const policy = creditingPolicyOf(config, satributes);
  lifecycle
    .run('token payments', (signal) => followTokenOrders({ url, policy, signal, log }))
    .catch((error: unknown) => {
      if (!(error instanceof AppError)) lifecycle.fail(error);
      else log.error({ code: error.code, err: error }, 'token payments are no longer credited');
    });
}

function tokenPolicyOf({ tokenpayConfirmations }: Pick<Config, 'tokenpayConfirmations'>): TokenPolicy {
  const policy = parseTokenPolicy(tokenpayConfirmations);
  assert(policy !== null, 'the settings were checked where they were read');
  return policy;
}

/** The crediting rules of the settings. */
function creditingPolicyOf(config: Config, satributes: () => SatributeBook): CreditingPolicy {
  return { ...tokenPolicyOf(config), special: specialSatributes(config, satributes) };
}

/**
 * Returns the satributes whose sats are worth more than money, as currently defined. Satributes whose sats cannot be
 * found on this network are left out.
 */
function specialSatributes(
  { tokenpaySpecialSats }: Pick<Config, 'tokenpaySpecialSats'>,
  satributes: () => SatributeBook,
): () => Satribute[] {
  const names = specialSatsOf(tokenpaySpecialSats);
  return () => {
    const book = satributes();
    return names.flatMap((name) => book.find(name) ?? []).filter((each) => book.isFindable(each));
  };
}
