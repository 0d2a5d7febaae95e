import { setTimeout as sleep } from 'node:timers/promises';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { OwnScript, WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { type IndexedBranch, indexedBranches, inventoryAddresses, walletBranches } from '../branches.ts';
import { type BranchEnds, covers, endsAt, endsBy, highestOf } from '../indices/branch-ends.ts';
import type { PublicWallet } from '../public-wallet.ts';
import { scanFailure } from './scan-failure.ts';

/** An address with a leaf. Such an address is only in the database, because no descriptor can describe it. */
export interface LeafAddress {
  readonly own: OwnScript;
  readonly script: Uint8Array;
  readonly orderId: string;
}

/** An unspent output of the wallet, in a block. */
export interface FoundOutput {
  readonly own: OwnScript;
  readonly script: Uint8Array;
  readonly txid: Txid;
  readonly vout: number;
  /** Value in sats. */
  readonly value: bigint;
  readonly height: number;
  /** The order that made the leaf of the address, or null if the address has no leaf. */
  readonly orderId: string | null;
}

export interface SearchProgress {
  /**
   * Number of indices that were searched. `end` is the end of the known indices. The numbers are for the branch with
   * the most indices.
   */
  readonly searched: number;
  readonly end: number;
  /** Progress of the running scan in percent. Null while the node still derives the addresses. */
  readonly percent: number | null;
  readonly found: number;
}

export interface SearchOptions {
  readonly node: NodeRpc;
  readonly wallet: PublicWallet;
  /** Ends of the indices that may have been shown, according to the mark and the database. */
  readonly known: BranchEnds;
  /** Number of consecutive indices without an output that ends the search. */
  readonly gap: number;
  readonly leaves: readonly LeafAddress[];
  readonly signal: AbortSignal;
  readonly onProgress: (progress: SearchProgress) => void;
}

/** Maximum time of one scan, in ms. On mainnet a scan reads 10 GB, which takes two minutes from a fast disk. */
const scanMaxMs = 3_600_000;
/**
 * Maximum number of indices of each branch per scan. Bitcoin Core needs about 500 bytes for each address, and allows at
 * most a million addresses in a range.
 */
const scannedAtOnce = 200_000;
/** Maximum number of leaf addresses per scan. They need 10 MB of the 32 MB that the node accepts in a request. */
const leavesAtOnce = 100_000;
const statusEveryMs = 500;

/**
 * Finds all unspent outputs in blocks at addresses of the wallet, and returns the end of the searched indices. For each
 * 200,000 indices, the node reads all unspent outputs once. It needs no index and no wallet. The search continues after
 * `known` until `gap` consecutive indices have no output. Outputs that the mempool spends are omitted. Throws the codes
 * of NodeRpc, and `node_scan_busy`.
 */
export async function findOutputs(
  options: SearchOptions,
): Promise<{ readonly found: FoundOutput[]; readonly searched: BranchEnds }> {
  const { wallet, known, gap, leaves } = options;
  const search = new Search(options);
  const [orders, own, inventory, fees] = wallet.descriptors();
  const descriptors = { orders, own, fees };
  await search.scan([{ desc: inventory, range: [0, inventoryAddresses - 1] }]);
  for (let from = 0; from < leaves.length; from += leavesAtOnce)
    await search.scan(
      leaves
        .slice(from, from + leavesAtOnce)
        .map(({ script }) => `raw(${Buffer.from(script).toString('hex')})`),
    );
  let searched = endsAt(0);
  for (;;) {
    const from = searched;
    const end = endsBy((branch) => Math.max(known[branch], search.endOf(branch)) + gap);
    search.end = mostOf(end);
    if (covers(from, end)) break;
    const until = endsBy((branch) => Math.min(end[branch], from[branch] + scannedAtOnce));
    await search.scan(
      indexedBranches.flatMap((branch) => rangeOf(descriptors[branch], from[branch], until[branch])),
    );
    searched = highestOf(from, until);
    search.searched = mostOf(searched);
  }
  return { found: await search.unspent(), searched };
}

const mostOf = (ends: BranchEnds): number => Math.max(...indexedBranches.map((branch) => ends[branch]));

type ScanObject = string | { readonly desc: string; readonly range: readonly [number, number] };

const rangeOf = (desc: string, from: number, until: number): ScanObject[] =>
  from < until ? [{ desc, range: [from, until - 1] }] : [];

interface Unspent {
  readonly txid: string;
  readonly vout: number;
  readonly scriptPubKey: string;
  readonly desc: string;
  readonly amount: number;
  readonly height: number;
}

class Search {
  searched = 0;
  end = 0;
  readonly #options: SearchOptions;
  readonly #leaves: ReadonlyMap<string, LeafAddress>;
  readonly #found = new Map<string, FoundOutput>();

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#leaves = new Map(options.leaves.map((leaf) => [Buffer.from(leaf.script).toString('hex'), leaf]));
  }

  /** The index after the last index of a branch that has an output, or 0 if no index has an output. */
  endOf(branch: IndexedBranch): number {
    const indices = [...this.#found.values()].map(({ own: { key } }) =>
      walletBranches[key.branch].name === branch ? key.index + 1 : 0,
    );
    return indices.reduce((most, index) => Math.max(most, index), 0);
  }

  async scan(objects: readonly ScanObject[]): Promise<void> {
    if (objects.length === 0) return;
    const { node, signal } = this.#options;
    const controller = new AbortController();
    const watching = this.#watch(controller.signal);
    try {
      const { unspents } = await node.call<{ unspents: readonly Unspent[] }>(
        'scantxoutset',
        ['start', objects],
        { timeoutMs: scanMaxMs, signal },
      );
      for (const unspent of unspents)
        this.#found.set(`${unspent.txid}:${unspent.vout}`, this.#outputOf(unspent));
    } catch (error) {
      // without this call, the node would continue the scan to its end, and would refuse other scans until then
      if (signal.aborted) await node.call('scantxoutset', ['abort']).catch(() => undefined);
      throw scanFailure(error);
    } finally {
      controller.abort();
      await watching;
    }
  }

  /** Outputs that no transaction in the mempool spends. */
  async unspent(): Promise<FoundOutput[]> {
    const { node, signal } = this.#options;
    const left: FoundOutput[] = [];
    for (const [outpoint, output] of this.#found) {
      const [txid, vout] = outpoint.split(':');
      if ((await node.call('gettxout', [txid, Number(vout), true], { signal })) !== null) left.push(output);
    }
    return left;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { node, onProgress } = this.#options;
    let percent: number | null = null;
    while (!signal.aborted) {
      const { searched, end } = this;
      onProgress({ searched, end, percent, found: this.#found.size });
      // wait first: if the node is asked for a status just as a scan starts, it would treat the scan as a second one
      // and refuse it
      await sleep(statusEveryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      const status = await node
        .call<{ progress: number } | null>('scantxoutset', ['status'])
        .catch(() => null);
      percent = status?.progress ?? null;
    }
  }

  #outputOf({ txid, vout, scriptPubKey, desc, amount, height }: Unspent): FoundOutput {
    const leaf = this.#leaves.get(scriptPubKey);
    const own = leaf?.own ?? this.#keyOf(desc, scriptPubKey);
    const id = parseTxid(txid);
    if (id === null || own === null)
      throw new AppError('node_answer_invalid', 'The node returned outputs that were not requested.');
    return {
      own,
      script: Uint8Array.from(Buffer.from(scriptPubKey, 'hex')),
      txid: id,
      vout,
      value: BigInt(satsOfBitcoins(amount)),
      height,
      orderId: leaf?.orderId ?? null,
    };
  }

  /**
   * Finds the key from the key origin in a descriptor of the node: `tr([d34db33f/86h/0h/0h/0/5]02…)`. The wallet must
   * derive the same script from this key.
   */
  #keyOf(desc: string, scriptPubKey: string): OwnScript | null {
    const [, branch, index] = /\[[0-9a-f]{8}(?:\/\d+['h]){3}\/([0-3])\/(\d{1,10})\]/u.exec(desc) ?? [];
    if (branch === undefined || index === undefined) return null;
    const own = {
      key: { branch: Number(branch) as WalletKey['branch'], index: Number(index) },
      leafScript: null,
    };
    const { script } = this.#options.wallet.addressOf(own);
    return Buffer.from(script).toString('hex') === scriptPubKey ? own : null;
  }
}

/** Maximum number of addresses that the node derives per call. */
const derivedAtOnce = 10_000;

/** Number of wallet addresses that were compared so far, and the total number. */
export interface CompareProgress {
  readonly compared: number;
  readonly of: number;
}

/**
 * Whether an address is an address of the wallet without a leaf, with an index below `until`. Addresses below `from`
 * are skipped, because they were already compared. If `from` is null, no addresses were compared before.
 */
export async function isOwnAddress(
  { node, wallet, signal }: Pick<SearchOptions, 'node' | 'wallet' | 'signal'>,
  address: string,
  { from, until }: { readonly from: BranchEnds | null; readonly until: BranchEnds },
  onProgress: (progress: CompareProgress) => void,
): Promise<boolean> {
  const descriptors = wallet.descriptors();
  const ranges = walletBranches.map(({ number, name }) => {
    const end = name === 'inventory' ? inventoryAddresses : until[name];
    if (from === null) return { descriptor: descriptors[number], begin: 0, end };
    return { descriptor: descriptors[number], begin: name === 'inventory' ? end : from[name], end };
  });
  const of = ranges.reduce((sum, { begin, end }) => sum + Math.max(0, end - begin), 0);
  let compared = 0;
  for (const { descriptor, begin, end } of ranges) {
    for (let first = begin; first < end; first += derivedAtOnce) {
      onProgress({ compared, of });
      const range = [first, Math.min(end, first + derivedAtOnce) - 1];
      const derived = await node.call<readonly string[]>('deriveaddresses', [descriptor, range], {
        signal,
        timeoutMs: scanMaxMs,
      });
      if (derived.includes(address)) return true;
      compared += derived.length;
    }
  }
  return false;
}
