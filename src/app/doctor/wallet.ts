import { dirname } from 'node:path';
import type pg from 'pg';
import type { Config } from '#config/config.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { type LastAudit, readLastAudit } from '#orders/audit/audit.store.ts';
import { readFreeSats, spareOf } from '#orders/funds/spare-sats.ts';
import { countOrders } from '#orders/order/order-counts.queries.ts';
import { reservedSats } from '#payouts/owed/reserved-sats.queries.ts';
import { holdText, type PaymentHold, readHold } from '#purse/holding/payment-hold.store.ts';
import { markFileOf } from '#src/app/ordering/wallet.ts';
import { type BranchEnds, covers } from '#wallet/indices/branch-ends.ts';
import { readMark } from '#wallet/indices/mark-file.ts';
import { readRelease, type StoredRelease } from '#wallet/indices/release.store.ts';
import { readSeedFile } from '#wallet/seed-file.ts';
import { openSigner } from '#wallet/signer.ts';
import { readWallet } from '#wallet/wallet.store.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';
import { lookAt } from './files.ts';
import { advice, broken, coded, type Finding, ok } from './finding.ts';
import { processesOrders } from './roles.ts';
import type { Subject } from './subject.ts';

/** Facts of the seed. */
export interface SeedFacts {
  /** `unread`: the database cannot be read. */
  readonly wallet: 'stored' | 'missing' | 'unread';
  /** `absent`: WALLET_SEED_FILE is not set. An error: the seed cannot be used. */
  readonly seed: 'absent' | 'usable' | AppError;
}

/** Facts of the high-water mark of addresses. */
export interface MarkFacts {
  readonly path: string;
  /** Null: there is no mark file. */
  readonly mark: BranchEnds | null | AppError;
  readonly release: Pick<StoredRelease, 'released' | 'isMarked' | 'problem'>;
  readonly isFolderWritable: boolean;
}

/** Facts of orders and of the coins that pay for their bumps. */
export interface OrderFacts {
  readonly stuck: number;
  readonly audit: Pick<LastAudit, 'orders' | 'differing'> | null;
  /** Sats that bumps may spend. */
  readonly spareSats: bigint;
  readonly bumpMaxSats: number;
}

/** The wallet of orders. */
export const walletSubject: Subject = {
  group: 'wallet',
  name: 'the wallet',
  examine: async ({ config, database }) => {
    if (!processesOrders(config.role)) return [];
    const found = await database;
    const wallet = found === null ? null : await readWallet(found.pool);
    const facts = await askSeed(config, found === null ? 'unread' : wallet);
    const hold = found === null || wallet === null ? null : await readHold(found.pool);
    const findings = [...judgeSeed(facts, config.role), ...judgeHold(hold)];
    if (found === null || wallet === null || config.walletSeedFile === undefined) return findings;
    const mark = await askMark(found.pool, config, config.walletSeedFile, wallet);
    return [
      ...findings,
      ...(mark === null ? [] : judgeMark(mark)),
      ...judgeOrders(await askOrders(found.pool, config)),
    ];
  },
};

async function askSeed(
  { walletSeedFile }: Config,
  wallet: WalletIdentity | null | 'unread',
): Promise<SeedFacts> {
  const stored = wallet === 'unread' ? wallet : wallet === null ? 'missing' : 'stored';
  if (walletSeedFile === undefined) return { wallet: stored, seed: 'absent' };
  try {
    if (wallet === null || wallet === 'unread') await readSeedFile(walletSeedFile);
    else await openSigner(walletSeedFile, wallet);
    return { wallet: stored, seed: 'usable' };
  } catch (error) {
    if (error instanceof AppError) return { wallet: stored, seed: error };
    throw error;
  }
}

async function askMark(
  pool: pg.Pool,
  config: Config,
  seedFile: string,
  wallet: WalletIdentity,
): Promise<MarkFacts | null> {
  const path = markFileOf(config, seedFile);
  // the mark covers a range before the database has the range
  const release = await readRelease(pool);
  if (release === null) return null;
  const mark = await readMark(path, wallet).catch((error: unknown) => {
    if (error instanceof AppError) return error;
    throw error;
  });
  const { kind, isWritable } = await lookAt(dirname(path));
  return { path, mark, release, isFolderWritable: kind === 'folder' && isWritable };
}

async function askOrders(pool: pg.Pool, { orderBumpMaxSats }: Config): Promise<OrderFacts> {
  const client = await pool.connect();
  try {
    const free = await readFreeSats(client, reservedSats);
    const { stuck } = await countOrders(pool);
    return {
      stuck,
      audit: await readLastAudit(client),
      spareSats: spareOf(free),
      bumpMaxSats: orderBumpMaxSats,
    };
  } finally {
    client.release();
  }
}

/** Judges the seed. Pure. */
export function judgeSeed({ wallet, seed }: SeedFacts, role: Config['role']): Finding[] {
  if (seed instanceof AppError) return [coded('wallet.seed', seed)];
  if (seed === 'absent') return [withoutSeed(wallet, role)];
  if (wallet === 'missing')
    return [
      advice(
        'wallet.seed',
        'The seed file can be read, and the database has no wallet: no orders are taken.',
        'Run satscribe wallet init for a new seed, or satscribe wallet restore for this one.',
      ),
    ];
  return [
    ok(
      'wallet.seed',
      wallet === 'stored'
        ? 'The seed file belongs to the wallet of the database.'
        : 'The seed file can be read.',
    ),
  ];
}

function withoutSeed(wallet: SeedFacts['wallet'], role: Config['role']): Finding {
  const action = 'Set WALLET_SEED_FILE in the process that processes orders (docs/wallet.md).';
  if (wallet === 'stored')
    return broken(
      'wallet.seed',
      'The database has a wallet, and WALLET_SEED_FILE is not set: this process advances no orders.',
      action,
    );
  if (role === 'orders')
    return advice('wallet.seed', 'The role orders has no seed: this process only sends webhooks.', action);
  return ok('wallet.seed', 'No wallet is set up: this service takes no orders.');
}

/** Judges whether payments are on hold after a restore. Pure. */
export const judgeHold = (hold: PaymentHold | null): Finding[] =>
  hold === null ? [] : [coded('wallet.hold', { code: 'restored_on_hold', message: holdText(hold) })];

/** Judges the mark of the wallet. Pure. */
export function judgeMark({ path, mark, release, isFolderWritable }: MarkFacts): Finding[] {
  if (mark instanceof AppError) return [coded('wallet.mark', mark)];
  const findings: Finding[] = [];
  const codeOf = (code: ErrorCode, message: string): Finding => coded('wallet.mark', { code, message });
  if (mark === null && release.isMarked)
    return [codeOf('wallet_mark_missing', `There is no mark file ${path}, and this wallet had one.`)];
  if (mark !== null && !covers(mark, release.released))
    findings.push(
      advice(
        'wallet.mark',
        `The mark file ${path} is lower than the addresses that the database has released: it is an older copy.`,
        'Bring the newest mark file back. If it is lost, run satscribe wallet skip.',
      ),
    );
  if (!isFolderWritable)
    findings.push(
      codeOf(
        'wallet_mark_unwritable',
        `The folder of the mark file ${path} cannot be written by this account.`,
      ),
    );
  if (release.problem !== null && findings.length === 0)
    findings.push(codeOf(release.problem, `The running service releases no addresses (${release.problem}).`));
  if (findings.length > 0) return findings;
  if (mark === null)
    return [ok('wallet.mark', 'No address was released yet: the service makes the mark file.')];
  return [ok('wallet.mark', 'The mark file covers all addresses that the database has released.')];
}

/** Judges orders, and the coins that pay for their bumps. Pure. */
export function judgeOrders({ stuck, audit, spareSats, bumpMaxSats }: OrderFacts): Finding[] {
  const findings: Finding[] = [];
  if (audit !== null && audit.differing > 0)
    findings.push(
      coded('wallet.audit', {
        code: 'audit_differs',
        message: `${audit.differing} of ${audit.orders} orders differ from the chain.`,
      }),
    );
  if (stuck > 0)
    findings.push(
      advice(
        'wallet.stuck',
        `${stuck} orders have a transaction that is stuck and not paid for.`,
        'satscribe orders list shows them (docs/orders-operator.md, "Stuck transactions").',
      ),
    );
  if (spareSats < BigInt(bumpMaxSats))
    findings.push(
      advice(
        'wallet.coins',
        `The wallet has ${spareSats < 0n ? 0n : spareSats} sats of its own to raise fees of orders, and one order may need ${bumpMaxSats}.`,
        'Send coins to the address of satscribe wallet fund. Revenue of orders counts too, once it is confirmed.',
      ),
    );
  else if (bumpMaxSats > 0)
    findings.push(ok('wallet.coins', `The wallet has ${spareSats} sats of its own to raise fees of orders.`));
  return findings;
}
