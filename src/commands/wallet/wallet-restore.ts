import type pg from 'pg';
import { nothingHeld, unknownHoldings } from '#kernel/contracts/holdings.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, parseBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { leafAddresses } from '#orders/operator/leaf-addresses.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { type NamedDestination, requireForeign } from '#src/app/ordering/foreign-destination.ts';
import { markFileOf, seedFileOf, withWalletDatabase } from '#src/app/ordering/wallet.ts';
import { withNodeOf } from '#src/app/sources/node.ts';
import { type BranchEnds, endsAt, endsBy, highestOf } from '#wallet/indices/branch-ends.ts';
import { readRelease } from '#wallet/indices/release.store.ts';
import { PublicWallet } from '#wallet/public-wallet.ts';
import { type FoundOutput, findOutputs, type LeafAddress } from '#wallet/restoring/find-outputs.ts';
import { sweep } from '#wallet/restoring/sweep.ts';
import { identityOfSeedFile, openSigner } from '#wallet/signer.ts';
import { readWallet } from '#wallet/wallet.store.ts';
import { feeRateOf, wholeNumber } from './amounts.ts';
import { readDestination } from './destination.ts';
import { knownMark, usualGap } from './known-indices.ts';
import { searchProgress } from './search-progress.ts';
import { type Restored, restoredJson, restoredText, type Swept } from './shown-outputs.ts';

/** Sources of a search: the wallet, and known data that cannot be derived from its seed. */
interface Sources {
  readonly wallet: PublicWallet;
  /** The indices below these ends may have been shown. */
  readonly known: BranchEnds;
  /**
   * Whether `known` comes from a mark. If true, no later index was shown. If false, later indices may have been shown,
   * because the database may be an older copy.
   */
  readonly isMarked: boolean;
  /** The database. `null` if no database is used. */
  readonly pool: pg.Pool | null;
  readonly leaves: readonly LeafAddress[];
}

/** Finds all unspent outputs of the seed, and sends them to one address if it is given. */
export async function restore(context: CommandContext): Promise<void> {
  const { flags } = context;
  const wishes = wishesOf(flags);
  if (flags['without-database'] !== undefined) {
    const { network } = context.config;
    if (network === undefined) throw new UsageError('missing network; name it with --network');
    await restoreOn(context, network, null, wishes);
    return;
  }
  try {
    await withWalletDatabase(context, 'existing', async (database) => {
      const network = await database.network();
      if (network === null) throw new UsageError('missing network; name it with --network');
      await restoreOn(context, network, database.pool, wishes);
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'database_missing') throw error;
    throw new UsageError(
      'there is no database. Restore it, because the seed alone does not find all addresses of its orders. Or search without a database, with --without-database',
    );
  }
}

/** Options from the flags, after checks. */
interface Wishes {
  /** Number of indices to search. `null` for the default, which depends on the mark. */
  readonly gap: number | null;
  /** The address and fee rate for sending the outputs. `null` if the outputs are only listed. */
  readonly send: { readonly to: string; readonly feeRate: bigint } | null;
}

function wishesOf(flags: CommandContext['flags']): Wishes {
  const gap = wholeNumber(flags, 'gap');
  const { to } = flags;
  if (to !== undefined) return { gap, send: { to, feeRate: feeRateOf(flags) } };
  const alone = ['fee-rate', 'broadcast'].find((name) => flags[name] !== undefined);
  if (alone === undefined) return { gap, send: null };
  throw new UsageError(`--${alone} needs --to, because without an address nothing is signed or sent`);
}

/** The script that receives all found outputs. */
interface Destination extends NamedDestination {
  readonly feeRate: bigint;
}

async function restoreOn(
  context: CommandContext,
  network: NetworkName,
  pool: pg.Pool | null,
  { gap, send }: Wishes,
): Promise<void> {
  const destination =
    send === null ? null : { ...readDestination(send.to, network, 'wallet'), feeRate: send.feeRate };
  await search(context, await sourcesOf(context, network, pool), gap, destination);
}

async function sourcesOf(
  context: CommandContext,
  network: NetworkName,
  pool: pg.Pool | null,
): Promise<Sources> {
  const seedFile = seedFileOf(context);
  const identity = await identityOfSeedFile(seedFile, network);
  const stored = pool === null ? null : await readWallet(pool);
  // throws if the database has another wallet
  if (stored !== null) await openSigner(seedFile, stored);
  const wallet = new PublicWallet(identity);
  const mark = await knownMark(markFileOf(context.config, seedFile), identity);
  const release = stored === null || pool === null ? null : await readRelease(pool);
  const leaves: LeafAddress[] = [];
  if (stored !== null && pool !== null)
    for await (const leaf of leafAddresses(pool, wallet)) leaves.push(leaf);
  const none = endsAt(0);
  return {
    wallet,
    known: highestOf(mark ?? none, release?.released ?? none),
    isMarked: mark !== null,
    pool: stored === null ? null : pool,
    leaves,
  };
}

async function search(
  context: CommandContext,
  sources: Sources,
  wantedGap: number | null,
  destination: Destination | null,
): Promise<void> {
  const { wallet, known, isMarked, leaves, pool } = sources;
  const gap = Math.max(1, wantedGap ?? usualGap(isMarked));
  const least = endsBy((branch) => known[branch] + gap);
  await withNodeOf(context, wallet.network, async (node, signal) => {
    const progress = searchProgress(process.stderr);
    const refuseOwn = async (from: BranchEnds | null, until: BranchEnds): Promise<void> => {
      if (destination === null) return;
      const scripts = leaves.map(({ script }) => script);
      await requireForeign(
        { node, wallet, signal, pool, leaves: scripts },
        destination,
        { from, until },
        (state) => progress.update(state),
      );
    };
    try {
      // check everything that can be refused now, because a scan takes minutes
      await refuseOwn(null, least);
      const { found, searched } = await findOutputs({
        node,
        wallet,
        known,
        gap,
        leaves,
        signal,
        onProgress: (state) => progress.update(state),
      });
      await refuseOwn(least, searched);
      progress.finish();
      const swept = destination === null ? null : await sweepTo(context, sources, found, destination, node);
      const shown = { network: wallet.network, searched, found, hasDatabase: pool !== null, swept };
      await context.print(
        context.flags['json'] === undefined
          ? restoredText(shown)
          : `${JSON.stringify(restoredJson(shown))}\n`,
      );
    } finally {
      progress.finish();
    }
  });
}

/** Signs transactions that send the found outputs to the destination. */
async function sweepTo(
  context: CommandContext,
  { wallet, pool }: Sources,
  found: Restored['found'],
  { script, feeRate }: Destination,
  node: NodeRpc,
): Promise<Swept> {
  const { flags } = context;
  const { free, left } = await freeOf(found, pool, node);
  const planned = sweep(free, script, feeRate);
  const signer = await openSigner(seedFileOf(context), wallet.identity);
  // if there is an index, leave all outputs that the index does not prove to hold only sats
  const held = pool === null ? unknownHoldings : nothingHeld;
  const signed = planned.plans.map((plan) =>
    signer.signPlan(
      plan,
      plan.inputs.map(() => held),
    ),
  );
  const isSent = flags['broadcast'] !== undefined;
  for (const { bytes } of signed)
    if (isSent) await node.call('sendrawtransaction', [Buffer.from(bytes).toString('hex')]);
  const cheap = planned.left.map((output) => ({ output, why: 'would cost more than its value' }));
  return { signed, isSent, left: [...left, ...cheap] };
}

/**
 * Selects the outputs that may be swept. If there is an index, these are the outputs that the index proves to hold only
 * sats.
 */
async function freeOf(
  found: readonly FoundOutput[],
  pool: pg.Pool | null,
  node: NodeRpc,
): Promise<{ free: FoundOutput[]; left: { output: FoundOutput; why: string }[] }> {
  const isStock = ({ own }: FoundOutput): boolean => own.key.branch === 2;
  const left = found.filter(isStock).map((output) => ({
    output,
    why: 'is part of the inventory; send it with a wallet that can select sats',
  }));
  const others = found.filter((output) => !isStock(output));
  if (pool === null) return { free: others, left };
  const hashes = new Map<number, Buffer>();
  for (const height of new Set(others.map((output) => output.height))) {
    const hash = parseBlockHash(await node.call<string>('getblockhash', [height]));
    if (hash !== null) hashes.set(height, Buffer.from(hash));
  }
  const coins = others.map((output) => ({
    ...output,
    value: Number(output.value),
    script: Buffer.from(output.script),
    height: asHeight(output.height),
    hash: hashes.get(output.height) ?? Buffer.alloc(32),
    keyIndex: output.own.key.index,
  }));
  const proofs = await proveFree(pool)(coins);
  const isProven = new Set(
    coins
      .filter((_, place) => proofs[place] === 'free')
      .map(({ txid, vout }) => `${displayHash(txid)}:${vout}`),
  );
  const isFree = ({ txid, vout }: FoundOutput): boolean => isProven.has(`${displayHash(txid)}:${vout}`);
  const why = 'holds an inscription or a rune, or the index cannot prove that it holds none';
  return {
    free: others.filter(isFree),
    left: [...left, ...others.filter((output) => !isFree(output)).map((output) => ({ output, why }))],
  };
}
