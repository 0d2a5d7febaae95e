import { setTimeout as sleep } from 'node:timers/promises';
import { restock } from '#inventory/restock.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { BatchRpc, NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { isAdvisoryLockHeld } from '#kernel/pg/advisory-lock.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { addSoldItems, removeSoldItems } from '#market/collections/sold-collection.store.ts';
import { auditCollections, mayBeMeant } from '#orders/audit/audit-collections.ts';
import { type KeepAuditingOptions, keepAuditing } from '#orders/audit/keep-auditing.ts';
import { type PersonCheck, turnstile } from '#orders/collections/turnstile.ts';
import { orderKeys } from '#orders/creating/order-keys.ts';
import { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { tellCustomer } from '#orders/customers/tell-customer.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { sweepFiles } from '#orders/files/sweep-files.ts';
import { type FollowOrdersOptions, followOrders } from '#orders/following/follow-orders.ts';
import { orderSteps } from '#orders/following/order-steps.ts';
import { ReturnCoins } from '#orders/funds/return-coins.ts';
import { LockTimes } from '#orders/grinding/lock-times.ts';
import type { ReturnPolicy } from '#orders/making/make-return.ts';
import { orderSigner } from '#orders/making/order-signer.ts';
import { ArrivedSats } from '#orders/sats/arrived-sats.ts';
import { NodeWatch } from '#orders/sending/node-watch.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { auditPayouts } from '#payouts/audit/audit-payouts.ts';
import { type FollowedPayoutParts, PayoutRounds } from '#payouts/following/follow-payouts.ts';
import { holdText } from '#purse/holding/payment-hold.store.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { openAnsweringPool } from '#src/app/database/answering-pool.ts';
import type { AnsweringDatabase, Database } from '#src/app/database/database.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';
import { openSatTracer } from '#src/app/sats/sat-tracer.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';
import { followReleases, type ReleaseOptions, releaseIndices } from '#wallet/indices/release-indices.ts';
import { openPublicWallet, type PublicWallet } from '#wallet/public-wallet.ts';
import { openSigner } from '#wallet/signer.ts';
import { accountBatches } from '#withdrawals/account-batches.ts';
import { bumpParts } from './bump-parts.ts';
import { filesDirOf } from './files-dir.ts';
import { keysOnce } from './keys-once.ts';
import { minerHandingOf, openMiner } from './miner.ts';
import { orderPolicyOf } from './order-policy-of.ts';
import { markFileOf } from './wallet.ts';

/**
 * Maximum number of connections for creations and reads of orders. They are separate so that orders do not wait for
 * searches.
 */
const connectionsMax = 4;
/** How long a statement may take, in ms. The creation of an order writes a leaf of up to 400 kB for each reveal. */
const statementTimeoutMs = 30_000;
/**
 * How long a trace of sats may take, in ms. The sats of a payment may have a long history, and the client who ordered
 * special sats waits for the result.
 */
const traceMs = 300_000;
/** How often a process without a wallet checks whether there is one now. */
const walletLookMs = 10_000;

/** Opens the orders of customers in a process that answers requests. This process needs no seed. */
export function openCustomerOrders(
  { config, lifecycle, logger }: CommandContext,
  database: AnsweringDatabase,
): CustomerOrders {
  const log = logger.child({ part: 'orders' });
  const pool = openAnsweringPool({ lifecycle, log }, database, {
    applicationName: 'satscribe customer orders',
    part: 'orders connections',
    max: connectionsMax,
    statementTimeoutMs,
    isPipelined: true,
  });
  const outgoing = new OutgoingHttp({ allowPrivate: config.allowPrivateUrls });
  lifecycle.add('requests for files of orders', () => outgoing.close());
  return new CustomerOrders({
    pool,
    keys: keysOnce(pool, orderKeys),
    files: new CustomerFiles(filesDirOf(config)),
    isSignerThere: () => isAdvisoryLockHeld(pool, 'orders'),
    reservedMost: config.orderReservedMax,
    outgoing,
    holdBounds: { client: config.collectionUnpaidMax, network: config.collectionUnpaidNetworkMax },
    persons: openPersonCheck({ config, lifecycle }),
    miner: openMiner({ config, lifecycle }, pool),
    allowPrivateUrls: config.allowPrivateUrls,
    timeoutMinutes: config.orderTimeoutMinutes,
    publicOrigin: config.publicUrl === undefined ? null : new URL(config.publicUrl).origin,
    bytesADay: bytesOf(config.orderMegabytesADay),
    uploadBytesADay: bytesOf(config.uploadMegabytesADay),
  });
}

/** Converts a setting in megabytes per day to bytes. Returns `null` if there is no limit. */
const bytesOf = (megabytes: number): number | null => (megabytes === 0 ? null : megabytes * 1_000_000);

/** Opens the check that a client is a person. Returns `null` if the settings do not require the check. */
function openPersonCheck({
  config: { turnstileSecret, turnstileUrl, turnstileSiteKey },
  lifecycle,
}: Pick<CommandContext, 'config' | 'lifecycle'>): PersonCheck | null {
  if (turnstileSecret === undefined) return null;
  // the operator chose this URL, like that of a miner, so it may be a private address
  const http = new OutgoingHttp(turnstileUrl === undefined ? {} : { own: [turnstileUrl] });
  lifecycle.add('checks of tokens', () => http.close());
  return turnstile(http, turnstileSecret, { url: turnstileUrl, siteKey: turnstileSiteKey ?? null });
}

/** Deletes files that no order needs any more. Runs for the life of the process if the process advances orders. */
export function startFileSweeps(
  { config, lifecycle, logger }: CommandContext,
  database: Database,
  { metrics }: OperationsParts,
): void {
  if (lifecycle.signal.aborted || config.walletSeedFile === undefined) return;
  const log = logger.child({ part: 'files' });
  const files = new CustomerFiles(filesDirOf(config));
  let bytes: number | null = null;
  metrics.read({
    name: 'satscribe_orders_files_bytes',
    help: 'Contents of the files of orders on disk',
    values: () => (bytes === null ? [] : [{ value: bytes }]),
  });
  const onBytes = (found: number): void => {
    bytes = found;
  };
  lifecycle
    .run('files', (signal) => sweepFiles({ url: database.url, files, signal, log, onBytes }))
    .catch((error: unknown) => {
      // if this fails, files only stay longer than they are needed
      log.error({ err: error }, 'files of orders are no longer deleted');
    });
}

/** Functions that add sold items to the market, and remove them. */
const market = { add: addSoldItems, remove: removeSoldItems };

/** Advances orders for the life of the process, if it has the seed of the wallet. */
export function startOrders(
  { config, health, lifecycle, logger }: CommandContext,
  database: Database,
  satributes: () => SatributeBook,
  node: NodeRpc,
  blocks: BlockSource,
  { metrics }: OperationsParts,
): void {
  const { walletSeedFile } = config;
  if (lifecycle.signal.aborted) return;
  const log = logger.child({ part: 'orders' });
  // this is only a hint; other parts report a database that does not answer
  if (walletSeedFile === undefined) return void warnWithoutSeed(database, log).catch(() => undefined);
  const bumps = bumpParts(config, database, metrics);
  const besideParts = { ...bumps, log: logger.child({ part: 'payouts' }), onHold: tellHold(health, log) };
  const handing = minerHandingOf({ config, lifecycle }, database, { metrics }, log);
  const work = async (signal: AbortSignal): Promise<void> => {
    const wallet = await awaitWallet(database, signal);
    if (wallet === null) return;
    const signer = orderSigner(wallet, await openSigner(walletSeedFile, wallet.identity));
    const mark = { markFile: markFileOf(config, walletSeedFile), owner: wallet.identity };
    const lockTimes = new LockTimes();
    const tracer = openSatTracer(database.readers, node, blocks);
    const returnCoins = new ReturnCoins();
    const arrivedSats = new ArrivedSats((outpoint) =>
      tracer.trace(outpoint, undefined, performance.now() + traceMs),
    );
    const standingBy = followReleases(database.readers, { ...mark, signal });
    try {
      const watch = new NodeWatch(node, config.orderBumpWithinBlocks);
      const steps = orderSteps({
        network: networks[wallet.network],
        signer,
        lockTimes,
        arrivedSats,
        satributes,
        watch,
        policy: orderPolicyOf(config),
        returns: returnPolicyOf(config),
        minerHours: config.nonstandardMinerHours,
        coinFor: (orderId, sats) => returnCoins.take(orderId, sats),
        market,
        restock: (tx, { spent, rests }) => restock(tx, satributes(), spent, rests),
        tell: tellCustomer,
      });
      await followOrders({
        url: database.url,
        node,
        watch,
        steps,
        bumps: { signer, ...bumps },
        lockTimes,
        arrivedSats,
        releaseIndices: releasesOf(health, database, mark, log),
        handPackages: handing,
        returnCoins,
        beside: payoutsOf(config, { node, signer, ...besideParts }),
        signal,
        log,
      });
    } finally {
      arrivedSats.close();
      await Promise.all([lockTimes.close(), signal.aborted ? standingBy : null]);
    }
  };
  lifecycle.run('orders', work).catch((error: unknown) => {
    if (!(error instanceof AppError)) return lifecycle.fail(error);
    // The index is still served. New orders are refused until a process can sign, and existing orders wait for that
    // process.
    health.report('orders', error);
    log.error({ code: error.code, err: error }, 'orders are no longer processed');
  });
}

/** Follows payouts beside orders, on the same database connection. */
const payoutsOf =
  (
    {
      payoutConfirmations: confirmations,
      withdrawInputsMax: inputsMax,
      withdrawBumpMaxSats,
      withdrawDebtMaxSats,
      consolidateDailySats,
      consolidateFeeRateMax,
    }: CommandContext['config'],
    {
      policy,
      ...parts
    }: Pick<FollowedPayoutParts, 'node' | 'log' | 'onHold'> &
      Pick<FollowOrdersOptions['bumps'], 'signer' | 'proveFree' | 'policy'>,
  ): NonNullable<FollowOrdersOptions['beside']> =>
  (client) =>
    new PayoutRounds({
      ...parts,
      client,
      confirmations,
      withdrawals: accountBatches({
        inputsMax,
        bumpMax: BigInt(withdrawBumpMaxSats),
        debtMax: BigInt(withdrawDebtMaxSats),
        consolidation: {
          dayMax: BigInt(consolidateDailySats),
          feeRateMax: BigInt(consolidateFeeRateMax) * 1000n,
        },
      }),
      bumpAfterMs: policy.afterMs,
    });

/** Tells `/health/ready`, `/status` and the log that payments are on hold after a restore. */
function tellHold(
  health: CommandContext['health'],
  log: CommandContext['logger'],
): NonNullable<FollowedPayoutParts['onHold']> {
  let isTold = false;
  return (hold) => {
    if ((hold !== null) === isTold) return;
    isTold = hold !== null;
    if (hold === null) {
      health.reportDegraded('payments', null);
      log.info('payments are released');
      return;
    }
    const message = holdText(hold);
    health.reportDegraded('payments', new AppError('restored_on_hold', message));
    log.warn({ code: 'restored_on_hold' }, message);
  };
}

/** Releases indices of the wallet for new orders. If this fails, `/health/ready` gives the reason. */
const releasesOf =
  (
    health: CommandContext['health'],
    { url }: Database,
    mark: Pick<ReleaseOptions, 'markFile' | 'owner'>,
    log: CommandContext['logger'],
  ): FollowOrdersOptions['releaseIndices'] =>
  (signal) =>
    releaseIndices({
      url,
      ...mark,
      signal,
      log,
      onProblem: (problem) => health.report('addresses', problem),
    });

const returnPolicyOf = (config: CommandContext['config']): ReturnPolicy => ({
  maxSats: BigInt(config.orderReturnMaxSats),
  dayMaxSats: BigInt(config.orderReturnDayMaxSats),
});

/** Warns if this process has no seed. If no process has a seed, new orders are refused and existing orders wait. */
async function warnWithoutSeed({ readers }: Database, log: CommandContext['logger']): Promise<void> {
  if ((await openPublicWallet(readers)) === null) return;
  log.warn(
    'there is a wallet, but this process does not process orders, because WALLET_SEED_FILE is not set (docs/wallet.md)',
  );
}

/**
 * Waits until `satscribe wallet init` has created the wallet, and returns it. Returns `null` if the process ends first.
 */
async function awaitWallet({ readers }: Database, signal: AbortSignal): Promise<PublicWallet | null> {
  while (!signal.aborted) {
    const wallet = await openPublicWallet(readers);
    if (wallet !== null) return wallet;
    await sleep(walletLookMs, undefined, { signal }).catch(() => undefined);
  }
  return null;
}

/** Audits orders for the life of the process, if this process advances orders. */
export function startAudits(
  { config, health, lifecycle, logger }: CommandContext,
  database: Database,
  node: BatchRpc,
): void {
  if (lifecycle.signal.aborted || config.walletSeedFile === undefined) return;
  const log = logger.child({ part: 'audit' });
  const onAudit: KeepAuditingOptions['onAudit'] = (audit) => {
    if (audit === null || audit.differing === 0) {
      health.report('audit', null);
      return;
    }
    const { orders, differing } = audit;
    const message = `${differing} of ${orders} orders differ from the chain. Run satscribe audit to see the differences.`;
    health.report('audit', new AppError('audit_differs', message));
  };
  lifecycle
    .run('audit', (signal) =>
      keepAuditing({ url: database.url, node, signal, log, onAudit, beside: auditBeside }),
    )
    .catch((error: unknown) => {
      // orders advance without the audit; the metric with the age of the last audit shows the failure
      if (!(error instanceof AppError)) lifecycle.fail(error);
      else log.error({ code: error.code, err: error }, 'orders are no longer audited');
    });
}

/** Audits payouts, collections and tokens. Differences of collections that a creator may intend are left out. */
const auditBeside: KeepAuditingOptions['beside'] = async (parts) => [
  ...(await auditPayouts(parts)),
  ...(await auditCollections(parts)).filter((difference) => !mayBeMeant(difference)),
  ...(await auditTokens(parts)),
];
