import { lstat } from 'node:fs/promises';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { orderRecoveryKit } from '#orders/operator/order-recovery-kit.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { markFileOf, seedFileOf, type WalletDatabase, withWalletDatabase } from '#src/app/ordering/wallet.ts';
import { shownTime } from '#src/commands/service-database.ts';
import { inventoryAddresses } from '#wallet/branches.ts';
import { type BranchEnds, endsAt } from '#wallet/indices/branch-ends.ts';
import { raiseMark, readMark } from '#wallet/indices/mark-file.ts';
import { readRelease } from '#wallet/indices/release.store.ts';
import { type SkipOptions, skipIndices, skippedUsually } from '#wallet/indices/skip-indices.ts';
import { PublicWallet } from '#wallet/public-wallet.ts';
import { recoveryKit } from '#wallet/recovery-kit.ts';
import { newSeedWords, writeSeedFile } from '#wallet/seed-file.ts';
import { identityOfSeedFile, openSigner } from '#wallet/signer.ts';
import { putWallet, readWallet, type StoredWallet, walletMissing } from '#wallet/wallet.store.ts';
import { wholeNumber } from './amounts.ts';
import { backupAdvice } from './backup-advice.ts';

/** Number of addresses that `show` prints for each branch. */
const shownAddresses = 3;
/** Number of addresses after the last released one that a watch-only wallet searches. */
const watchedAhead = 1000;

export async function init(context: CommandContext): Promise<void> {
  const seedFile = seedFileOf(context);
  const markFile = markFileOf(context.config, seedFile);
  const firstIndex = wholeNumber(context.flags, 'first-index');
  await withWalletDatabase(context, 'attach', async (database) => {
    const stored = await readWallet(database.pool);
    if (stored !== null) return moveOn(context, database, stored, firstIndex);
    const network = await database.network();
    if (network === null)
      throw new UsageError(
        'missing network; the database serves none yet, so name it with --network mainnet, testnet3, testnet4, signet or regtest',
      );
    const [isThere, isMarked] = await Promise.all([exists(seedFile), exists(markFile)]);
    if (isThere && !isMarked && firstIndex === null) {
      throw new AppError(
        'wallet_seed_exists',
        `The seed file ${seedFile} already exists, but its mark file does not. If the wallet of this seed was used, restore its database, or restore its mark file to ${markFile}. Without both of these, use --first-index with the first index that the wallet never used. If the wallet was never used, this index is 0.`,
      );
    }
    if (!isThere && isMarked) {
      throw new AppError(
        'wallet_mark_mismatch',
        `There is already a mark file ${markFile}, but no seed file ${seedFile}, so the mark file belongs to another wallet. Restore the seed of that wallet, or name another seed file.`,
      );
    }
    const words = isThere ? null : newSeedWords();
    if (words !== null) await writeSeedFile(seedFile, words);
    await store(context, database, network, { seedFile, markFile, words, firstIndex: firstIndex ?? 0 });
  });
}

const exists = async (path: string): Promise<boolean> => (await lstat(path).catch(() => null)) !== null;

/** Advances the existing wallet to later indices. */
async function moveOn(
  context: CommandContext,
  { pool }: WalletDatabase,
  stored: StoredWallet,
  firstIndex: number | null,
): Promise<void> {
  const { masterFingerprint, network, createdAt } = stored;
  if (firstIndex === null) {
    const which =
      (await seedState(context, stored)) === 'matches'
        ? `The seed file ${seedFileOf(context)} belongs to this wallet, so no action is needed.`
        : `The seed file ${seedFileOf(context)} does not belong to this wallet, or cannot be read.`;
    throw new AppError(
      'wallet_exists',
      `The database already has a wallet, ${masterFingerprint} on ${network}, which was made at ${shownTime(createdAt)}. ${which}`,
    );
  }
  await moveTo(context, pool, stored, { by: 0, atLeast: endsAt(firstIndex) });
}

/** Advances the wallet, even if its mark is missing or damaged. The operator names the number of indices. */
export async function skip(context: CommandContext): Promise<void> {
  const by = wholeNumber(context.flags, 'by') ?? skippedUsually;
  await withWalletDatabase(context, 'existing', async ({ pool }) => {
    const stored = await requireWallet(pool);
    if (by < skippedUsually) await requireMark(context, pool, stored, by);
    await moveTo(context, pool, stored, { by, atLeast: endsAt(0) });
  });
}

/**
 * Throws a usage error if there is no valid mark, because a short skip could then lead to an address that was already
 * shown.
 */
async function requireMark(
  context: CommandContext,
  pool: WalletDatabase['pool'],
  stored: StoredWallet,
  by: number,
): Promise<void> {
  const markFile = markFileOf(context.config, seedFileOf(context));
  const state = await readMark(markFile, stored).then(
    (mark) => (mark === null ? 'lost' : 'there'),
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'wallet_mark_refused') return 'damaged';
      throw error;
    },
  );
  if (state === 'there' || (state === 'lost' && (await readRelease(pool))?.isMarked !== true)) return;
  throw new UsageError(
    `--by ${by} is too few while the mark file ${markFile} is ${state}. Without this file no one knows which addresses were shown, and one of these addresses could be shown again to another customer. Leave --by out, or skip ${skippedUsually} or more`,
  );
}

async function moveTo(
  context: CommandContext,
  pool: WalletDatabase['pool'],
  stored: StoredWallet,
  how: Pick<SkipOptions, 'by' | 'atLeast'>,
): Promise<void> {
  const seedFile = seedFileOf(context);
  await openSigner(seedFile, stored);
  await skipIndices(pool, { markFile: markFileOf(context.config, seedFile), owner: stored, ...how });
  await tell(context, await requireWallet(pool), null);
}

interface NewWallet {
  readonly seedFile: string;
  readonly markFile: string;
  /** The words of a new seed. `null` if the seed file existed before. */
  readonly words: string | null;
  readonly firstIndex: number;
}

async function store(
  context: CommandContext,
  { pool }: WalletDatabase,
  network: NetworkName,
  { seedFile, markFile, words, firstIndex }: NewWallet,
): Promise<void> {
  // read the identity from the file, to prove that a restart can read the file
  const identity = await identityOfSeedFile(seedFile, network);
  const first = await raiseMark(markFile, identity, endsAt(firstIndex));
  const stored = await putWallet(pool, identity, first);
  if (stored === null) throw new AppError('wallet_exists', 'Meanwhile the database got another wallet.');
  await tell(context, stored, words);
}

async function tell(context: CommandContext, stored: StoredWallet, words: string | null): Promise<void> {
  const { flags, print } = context;
  if (flags['json'] !== undefined) {
    // do not print the words, because they are for a person with paper, and programs have the file
    await print(`${JSON.stringify({ ...jsonOf(stored), seedFile: seedFileOf(context) })}\n`);
    return;
  }
  const seedFile = seedFileOf(context);
  await print(`wallet ${stored.masterFingerprint} on ${stored.network}
seed file ${seedFile}
mark file ${markFileOf(context.config, seedFile)}
next keys ${shownEnds(stored.next)}
`);
  if (words !== null) await print(backupAdvice(process.stdout.isTTY ? words : null));
}

export async function show(context: CommandContext): Promise<void> {
  await withWalletDatabase(context, 'existing', async ({ pool }) => {
    const stored = await requireWallet(pool);
    const { flags, print } = context;
    const wallet = new PublicWallet(stored);
    const indices = Array.from({ length: shownAddresses }, (_, index) => index);
    const addresses = {
      orders: indices.map((index) => wallet.orderAddress(index, null).address),
      own: indices.map((index) => wallet.ownAddress(index).address),
      fees: indices.map((index) => wallet.feesAddress(index).address),
    };
    const seed = await seedState(context, stored);
    const mark = await markState(context, stored);
    const release = await releaseState(pool);
    if (flags['json'] !== undefined) {
      await print(`${JSON.stringify({ ...jsonOf(stored), seed, mark, release, addresses })}\n`);
      return;
    }
    await print(`fingerprint  ${stored.masterFingerprint}
network      ${stored.network}
account      ${stored.accountXpub}
created      ${shownTime(stored.createdAt)}
next keys    ${shownEnds(stored.next)}
released     ${release}
seed file    ${seed}
mark         ${mark}
orders       ${addresses.orders.join(' ')} …
service      ${addresses.own.join(' ')} …
fee charges  ${addresses.fees.join(' ')} …
`);
  });
}

/** Tells whether this machine can sign. */
async function seedState({ config }: CommandContext, stored: StoredWallet): Promise<string> {
  if (config.walletSeedFile === undefined) return 'not set';
  try {
    await openSigner(config.walletSeedFile, stored);
    return 'matches';
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** Tells the indices in the mark of this machine, or the error code of the mark. */
async function markState({ config }: CommandContext, stored: StoredWallet): Promise<string> {
  if (config.walletSeedFile === undefined && config.walletMarkFile === undefined) return 'not set';
  try {
    const mark = await readMark(markFileOf(config, config.walletSeedFile ?? ''), stored);
    return mark === null ? 'missing' : shownEnds(mark);
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** Tells which indices may be given to orders now. */
async function releaseState(pool: WalletDatabase['pool']): Promise<string> {
  const release = await readRelease(pool);
  if (release?.problem != null) return `none: ${release.problem}`;
  if (release?.isLive !== true) return 'none, because no process with the seed runs';
  return `up to ${shownEnds(release.released)}`;
}

const shownEnds = ({ orders, own, fees }: BranchEnds): string =>
  `${orders} of orders, ${own} of the service, ${fees} of fee charges`;

export async function descriptors(context: CommandContext): Promise<void> {
  await withWalletDatabase(context, 'existing', async ({ pool }) => {
    const stored = await requireWallet(pool);
    const [orders, own, inventory, fees] = new PublicWallet(stored).descriptors();
    const isJson = context.flags['json'] !== undefined;
    if (!isJson) {
      await context.print(`${orders}\n${own}\n${inventory}\n${fees}\n`);
      return;
    }
    const imported = (desc: string, last: number) => ({
      desc,
      timestamp: Math.floor(stored.createdAt.getTime() / 1000),
      range: [0, last],
      active: false,
    });
    const requests = [
      imported(orders, stored.next.orders + watchedAhead),
      imported(own, stored.next.own + watchedAhead),
      imported(inventory, inventoryAddresses - 1),
      imported(fees, stored.next.fees + watchedAhead),
    ];
    await context.print(`${JSON.stringify(requests)}\n`);
  });
}

/** Prints the recovery kit of an order. It is always JSON, because it is a file for `recover`. */
export async function kit(context: CommandContext, id: string | undefined): Promise<void> {
  const feesIndex = wholeNumber(context.flags, 'fees-index');
  if (feesIndex !== null) return feesKit(context, id, feesIndex);
  if (id === undefined || !isOrderId(id))
    throw new UsageError(
      `${id === undefined ? 'missing order id' : `${id} is not an order id`}; use satscribe wallet kit <id>`,
    );
  const reveal = wholeNumber(context.flags, 'reveal');
  const parent = wholeNumber(context.flags, 'parent');
  await withWalletDatabase(context, 'existing', async ({ pool }) => {
    await context.print(`${JSON.stringify(await orderRecoveryKit(pool, id, { reveal, parent }))}\n`);
  });
}

/** Prints the recovery kit of the address of a fee charge. */
async function feesKit(context: CommandContext, id: string | undefined, index: number): Promise<void> {
  const other = ['reveal', 'parent'].find((name) => context.flags[name] !== undefined);
  if (id !== undefined || other !== undefined)
    throw new UsageError(
      `--fees-index names the address, so no order is needed: leave ${id ?? `--${other}`} out`,
    );
  await withWalletDatabase(context, 'existing', async ({ pool }) => {
    const wallet = new PublicWallet(await requireWallet(pool));
    const own = { key: { branch: 3, index }, leafScript: null } as const;
    await context.print(`${JSON.stringify(recoveryKit(wallet, own))}\n`);
  });
}

async function requireWallet(pool: WalletDatabase['pool']): Promise<StoredWallet> {
  const stored = await readWallet(pool);
  if (stored === null) throw walletMissing();
  return stored;
}

function jsonOf(stored: StoredWallet) {
  const { network, masterFingerprint, accountXpub, next, createdAt } = stored;
  return {
    network,
    masterFingerprint,
    accountXpub,
    nextOrderIndex: next.orders,
    nextOwnIndex: next.own,
    nextFeesIndex: next.fees,
    createdAt,
  };
}
