import assert from 'node:assert/strict';
import type pg from 'pg';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { heldAtScript } from '#chain/outputs/received-output.queries.ts';
import { satRangesOf } from '#chain/sats/sat-ranges.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { coinbaseMaturity } from '#kernel/bitcoin/consensus.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import { specialSats } from '#kernel/satributes/special-ranges.ts';
import { type SatRange, satsIn } from '#kernel/sats/sat-range.ts';
import type { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { traceOutputs } from '#sat-ranges/trace-outputs.ts';
import { type HeldSats, type Holdings, heldByOutputs, type PlacedHoldings } from './held-by-outputs.ts';
import type { IndexSource } from './index-source.ts';
import { mempoolSpenders } from './mempool-spenders.ts';
import { type BlockOfOutput, blockAt } from './node-blocks.ts';
import {
  type ListedOutput,
  type Listing,
  type Owner,
  outpointText,
  type PartListing,
  type Utxo,
  type UtxoSet,
  type UtxoSource,
} from './utxo.ts';

/**
 * Maximum number of concurrent calls about outputs. A node before Bitcoin Core 29 processes only 4 calls at a time by
 * default, and other callers need it, too.
 */
const callsMax = 2;
/**
 * Maximum number of special ranges that are read per output. Outputs of early blocks have tens of thousands of
 * palindromes.
 */
const specialMax = 10_000;

interface NodeOutput {
  readonly bestblock: string;
  readonly confirmations: number;
  readonly value: number;
  readonly scriptPubKey: { readonly hex: string };
  readonly coinbase: boolean;
}

export interface UtxoParts {
  readonly pool: pg.Pool;
  readonly network: NetworkName;
  readonly index: IndexSource;
  /** The other sources. The preferred source comes first. */
  readonly others: readonly UtxoSource[];
  /** The source to use. `auto` means the index if it exists, otherwise the first of the other sources. */
  readonly choice: 'auto' | UtxoSource['name'];
  readonly node: NodeRpc | null;
  readonly tracer: SatTracer | null;
}

type ListingOf = Listing & { readonly source: UtxoSource['name'] };

/**
 * Reads unspent outputs of scripts from any available source, and the contents of these outputs (docs/utxos.md).
 * Orders, token payments and the inventory use it to find outputs that they can spend.
 */
export class UtxoReader {
  readonly #parts: UtxoParts;

  constructor(parts: UtxoParts) {
    this.#parts = parts;
  }

  /**
   * Lists the confirmed outputs of some scripts that no block spends, and whether the mempool spends them. Throws
   * `utxo_source_missing`, the codes of the source, and the codes of NodeRpc.
   */
  async unspent(owners: readonly Owner[], asker: Asker): Promise<UtxoSet> {
    const { source, tipHeight, outputs } = await this.listed(owners, asker);
    return { source, tipHeight, utxos: await this.inMempool(outputs, tipHeight) };
  }

  /**
   * Lists the same outputs as `unspent`, but without the node's state of each output. It is for callers that need only
   * a few outputs. Throws `utxo_source_missing`, and the codes of the source.
   */
  async listed(owners: readonly Owner[], asker: Asker): Promise<ListingOf> {
    const source = await this.#source(asker);
    return { source: source.name, ...(await source.list(owners, asker)) };
  }

  /**
   * Lists the largest outputs of one script, at most `limit`. Lists all outputs if the source cannot find the largest.
   * Throws the same errors as `listed`.
   */
  async largest(owner: Owner, limit: number, asker: Asker): Promise<PartListing> {
    const source = await this.#source(asker);
    const found = await source.largest?.(owner, limit, asker);
    return found ?? { ...(await source.list([owner], asker)), isAll: true };
  }

  /**
   * Adds the node's state to listed outputs: whether the mempool spends them, and whether they are immature. Throws the
   * codes of NodeRpc.
   */
  async inMempool(outputs: readonly ListedOutput[], tipHeight: number): Promise<Utxo[]> {
    const spenders = await this.#spenders(outputs);
    const immature = await this.#immature(outputs, tipHeight);
    const isAsked = this.#parts.node !== null;
    return outputs.map((output): Utxo => {
      return {
        ...output,
        spender: isAsked ? (spenders.get(nameOf(output)) ?? 'none') : 'unknown',
        isImmature: isAsked ? immature.has(displayHash(output.txid)) : null,
      };
    });
  }

  /**
   * Reads outputs of the node's chain, of any owner, in the order of the outpoints. An element is null if the output is
   * spent in a block, unconfirmed or unknown. Throws `no_node`, and the codes of NodeRpc.
   */
  async outputs(outpoints: readonly Outpoint[]): Promise<(Utxo | null)[]> {
    const { node } = this.#parts;
    if (node === null)
      throw new AppError('no_node', 'a node is needed to read outputs, but there is no node');
    const blocks = new Map<number, Promise<BlockOfOutput>>();
    const tips = new Map<string, Promise<{ readonly height: number }>>();
    const found = await inLanes(outpoints, callsMax, async ({ txid, vout }) => {
      const output = await node.call<NodeOutput | null>('gettxout', [displayHash(txid), vout, false]);
      if (output === null) return null;
      const { bestblock, confirmations, coinbase } = output;
      const { height: tipHeight } = await known(tips, bestblock, () =>
        node.call<{ readonly height: number }>('getblockheader', [bestblock]),
      );
      const height = asHeight(tipHeight - confirmations + 1);
      const block = await known(blocks, height, () => blockAt(node, height));
      const script = Buffer.from(output.scriptPubKey.hex, 'hex');
      const listed = { txid, vout, value: satsOfBitcoins(output.value), script, height, ...block };
      return { ...listed, isImmature: coinbase && isYoung(height, tipHeight) };
    });
    const spenders = await this.#spenders(found.filter((output) => output !== null));
    return found.map((output) =>
      output === null ? null : { ...output, spender: spenders.get(nameOf(output)) ?? 'none' },
    );
  }

  /** The inscriptions and runes of outputs, in the order of the outputs. */
  holdings(outputs: readonly ListedOutput[], { signal }: Asker): Promise<Holdings[]> {
    return withSnapshot(this.#parts.pool, (snapshot) => heldByOutputs(snapshot, outputs), signal);
  }

  /**
   * The inscriptions of an output with their positions, and its runes by id. `amounts` is null if the runes are
   * unknown. `placed` is complete only if `inscriptions` is not null.
   */
  async contents(output: ListedOutput, { signal }: Asker): Promise<Holdings & PlacedHoldings> {
    return withSnapshot(
      this.#parts.pool,
      async (snapshot) => {
        const { txid, vout, script, height, blockHash } = output;
        const block = { height, hash: Buffer.from(blockHash, 'hex').reverse() };
        const [holdings] = await heldByOutputs(snapshot, [output]);
        const [held] = await heldAtScript(snapshot.client, script, [{ txid, vout, block }], []);
        assert(holdings !== undefined && held !== undefined, 'one output is asked about');
        return { ...holdings, placed: held.inscriptions, amounts: held.runes };
      },
      signal,
    );
  }

  /**
   * Reads the sats of outputs, in the order of the outputs. Only the index of sats (INDEX_SATS) is used, without a
   * walk. An element is `unknown` if the index does not have the output. Returns null if there is no such index.
   */
  async indexedSats(
    outputs: readonly ListedOutput[],
    { signal }: Asker,
  ): Promise<(readonly SatRange[] | 'unknown')[] | null> {
    return withSnapshot(
      this.#parts.pool,
      async ({ client }) => {
        const ranges = await satRangesOf(client, outputs);
        const held = outputs.map((output) => ranges.of(output));
        if (held.includes(null)) return null;
        // the index does not have ranges for outputs that are not indexed yet
        return held.map((each, place) =>
          each !== null && satsIn(each) === outputs[place]?.value ? each : 'unknown',
        );
      },
      signal,
    );
  }

  /**
   * Reads the sats of outputs, in the order of the outputs, and selects the sats that have one of the satributes. Takes
   * at most the time of one walk. Throws the codes of SatTracer.
   */
  async sats(
    outputs: readonly ListedOutput[],
    asker: Asker,
    satributes: readonly Satribute[],
  ): Promise<HeldSats[]> {
    const { tracer } = this.#parts;
    const unknown: HeldSats = { state: 'unknown', reason: 'there is no node with which to trace sats' };
    if (tracer === null) return outputs.map(() => unknown);
    const outpoints = outputs.map(({ txid, vout }) => ({ txid: displayHash(txid), vout }));
    const traced = await traceOutputs(tracer, outpoints, asker);
    return traced.map((sats): HeldSats => {
      if (sats === null)
        return { state: 'unknown', reason: 'the node does not have it as an unspent output' };
      if (sats.state === 'unknown') return { state: 'unknown', reason: sats.reason };
      const special = specialSats(sats.ranges, satributes, specialMax);
      return { state: 'known', ranges: sats.ranges, special };
    });
  }

  async #source(asker: Asker): Promise<UtxoSource> {
    const { index, others, choice } = this.#parts;
    if (choice === 'index') return index;
    if (choice === 'auto' && (await index.isThere(asker))) return index;
    const other = choice === 'auto' ? others[0] : others.find(({ name }) => name === choice);
    if (other !== undefined) return other;
    throw new AppError(
      'utxo_source_missing',
      'an index of addresses, ESPLORA_URL or a node is needed to find unspent outputs, but there is none of them',
    );
  }

  async #spenders(outputs: readonly ListedOutput[]): Promise<ReadonlyMap<string, TxidHex>> {
    const { node } = this.#parts;
    return node === null ? new Map() : mempoolSpenders(node, outputs);
  }

  /**
   * Finds the coinbase transactions among these outputs that the block after the tip must not spend yet. Only
   * transactions of recent blocks are checked. Each transaction is requested only once, because one transaction may pay
   * thousands of outputs to an address.
   */
  async #immature(outputs: readonly ListedOutput[], tipHeight: number): Promise<ReadonlySet<TxidHex>> {
    const { node } = this.#parts;
    const immature = new Set<TxidHex>();
    if (node === null) return immature;
    const young = outputs.filter(({ height }) => isYoung(height, tipHeight));
    const outputOf = new Map(young.map(({ txid, vout }) => [displayHash(txid), vout]));
    await inLanes([...outputOf], callsMax, async ([txid, vout]) => {
      const found = await node.call<NodeOutput | null>('gettxout', [txid, vout, false]);
      if (found?.coinbase === true) immature.add(txid);
    });
    return immature;
  }
}

/** Whether a coinbase at this height is still immature for the block after the tip. */
const isYoung = (height: number, tipHeight: number): boolean => tipHeight + 1 - height < coinbaseMaturity;

/** The result for a key. Calls `ask` only if there was no earlier call for the same key. */
function known<Key, Value>(
  answers: Map<Key, Promise<Value>>,
  key: Key,
  ask: () => Promise<Value>,
): Promise<Value> {
  const answer = answers.get(key) ?? ask();
  answers.set(key, answer);
  return answer;
}

const nameOf = ({ txid, vout }: ListedOutput): string => outpointText(displayHash(txid), vout);
