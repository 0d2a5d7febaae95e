import type { KnownOutput, KnownOutputs, Outpoint } from '#chain/outputs/output.queries.ts';
import { callsAtOnce, type NodeCalls } from '#http/ord/sources/node-calls.ts';
import { nodeOutput } from '#http/ord/sources/node-questions.ts';
import {
  type FoundTransaction,
  isGenesisCoinbase,
  type Transactions,
} from '#http/ord/transactions/transactions.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { RawOutput, RawTransaction } from '#indexer/transaction/raw-transaction.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

/**
 * The fields of ord's `/output`, except those that follow from the outpoint. Some fields need the output's transaction.
 * They are null if the index knows the output, but the server has neither blocks nor a node.
 */
export interface OutputFacts {
  readonly confirmations: number;
  readonly indexed: boolean;
  readonly inscriptions: readonly InscriptionId[];
  readonly script: Uint8Array | null;
  /**
   * `null` if `script` is null. Otherwise the output is unspendable if its script begins with OP_RETURN or is too long;
   * ord reports such an output as spent.
   */
  readonly spent: boolean | null;
  readonly value: Sats | null;
}

/** Outputs to look up, without repetitions, and their data in the index. */
export interface AskedOutputs {
  readonly outpoints: readonly Outpoint[];
  readonly tip: Tip | null;
  readonly known: KnownOutputs;
  /** Whether the index knows which outputs have runes. */
  readonly knowsRunes: boolean;
}

/** Receives the data of an output as soon as it is found. `place` is the index of the output in the query. */
type TakeFacts = (place: number, facts: OutputFacts) => void;

/**
 * Maximum number of outputs in one turn of the event loop while no call waits. It is also the maximum number of
 * transactions that are looked up together.
 */
const partSize = 250;
/**
 * Maximum number of bytes of transactions that one request may read: four of the largest transactions, or 10,000 of
 * usual size. The node's response about a transaction is four times as large. It costs the event loop 20 ms per
 * megabyte of the transaction.
 */
const transactionBytesMax = 16_000_000;
const opReturn = 0x6a;
/** Maximum length of a spendable script, in bytes (Bitcoin Core script/script.h, `MAX_SCRIPT_SIZE`). */
const spendableScriptMax = 10_000;

export const outpointText = ({ txid, vout }: Outpoint): string => `${displayHash(txid)}:${vout}`;

/** Whether an output is unspendable. A node's UTXO set never contains such outputs, so ord reports them as spent. */
function isUnspendable(script: Uint8Array): boolean {
  return script[0] === opReturn || script.length > spendableScriptMax;
}

function outputAt({ outputs }: RawTransaction, outpoint: Outpoint): RawOutput {
  const output = outputs[outpoint.vout];
  if (output === undefined) throw new AppError('not_found', `output ${outpointText(outpoint)} not found`);
  return output;
}

/** Finds data of outputs in the index, in the node, and in the outputs' transactions. Each transaction is read once. */
export class OutputSearch {
  readonly #logger: AppDependencies['logger'];
  readonly #node: NodeCalls | null;
  readonly #transactions: Transactions;

  constructor(logger: AppDependencies['logger'], node: NodeCalls | null, transactions: Transactions) {
    this.#logger = logger;
    this.#node = node;
    this.#transactions = transactions;
  }

  /**
   * Finds the data of outputs. Throws `not_found`. Throws `no_node` if only a node knows the output, and
   * `request_invalid` if the transactions are too large.
   */
  async find(asked: AskedOutputs, asker: Asker, take: TakeFacts): Promise<void> {
    const node = this.#node?.of(asker) ?? null;
    /** Indices of the outputs whose data is only in their transactions. */
    const untold: number[] = [];
    await inLanes(asked.outpoints, callsAtOnce, async (outpoint, place) => {
      if (place % partSize === partSize - 1) await nextTurn(asker.client);
      const facts = await this.#factsWithout(asked, place, outpoint, node, asker);
      if (facts === null) untold.push(place);
      else take(place, facts);
    });
    await this.#findInTransactions(asked, untold, asker, async (place, outpoint, found) =>
      take(
        place,
        found instanceof AppError
          ? await this.#factsAlone(asked, place, outpoint, found, node, asker)
          : await this.#factsWith(asked, place, outpoint, found, node, asker),
      ),
    );
  }

  /** Finds the script of an output. Throws the errors of `find`. */
  async scriptOf(outpoint: Outpoint, asker: Asker): Promise<Uint8Array> {
    const { txid, vout } = outpoint;
    const { tip, places } = await this.#transactions.places([{ txid, vouts: [vout] }], asker);
    const { transaction } = await this.#transactions.findAt(txid, { tip, place: places[0] ?? null }, asker);
    return outputAt(transaction, outpoint).script;
  }

  /** Reads the data from transactions. If only a node has a transaction, `show` receives the error `no_node`. */
  async #findInTransactions(
    { outpoints, known: { byPlace } }: AskedOutputs,
    untold: readonly number[],
    asker: Asker,
    show: (place: number, outpoint: Outpoint, found: FoundTransaction | AppError) => Promise<void>,
  ): Promise<void> {
    const placesOf = Map.groupBy(
      untold.flatMap((place) => {
        const outpoint = outpoints[place];
        return outpoint === undefined ? [] : [{ place, outpoint }];
      }),
      ({ outpoint }) => displayHash(outpoint.txid),
    );
    const groups = [...placesOf.values()];
    let readBytes = 0;
    for (let from = 0; from < groups.length; from += partSize) {
      const part = groups.slice(from, from + partSize);
      const asked = part.flatMap((group) => {
        const txid = group[0]?.outpoint.txid;
        return txid === undefined ? [] : [{ txid, vouts: group.map(({ outpoint }) => outpoint.vout), group }];
      });
      const { tip, places } = await this.#transactions.places(asked, asker);
      await inLanes(asked, callsAtOnce, async ({ txid, group }, index) => {
        await nextTurn(asker.client);
        const [known] = group.flatMap(({ place }) => byPlace.get(place)?.transaction ?? []);
        const told = { tip, place: known ?? places[index] ?? null };
        const found = await this.#transactions.findAt(txid, told, asker).catch((error: unknown) => {
          if (error instanceof AppError && error.code === 'no_node') return error;
          throw error;
        });
        if (!(found instanceof AppError)) readBytes += found.transaction.bytes.length;
        if (readBytes > transactionBytesMax)
          throw new AppError(
            'request_invalid',
            `the transactions of these outputs have more than ${transactionBytesMax} bytes; request fewer outputs`,
          );
        for (const { place, outpoint } of group) await show(place, outpoint, found);
      });
    }
  }

  /** The data that is known without the output's transaction. `null` if the transaction is needed. */
  async #factsWithout(
    { tip, known: { byPlace } }: AskedOutputs,
    place: number,
    outpoint: Outpoint,
    node: NodeRpc | null,
    asker: Asker,
  ): Promise<OutputFacts | null> {
    const known = byPlace.get(place);
    if (known !== undefined && tip !== null) {
      if (known.script !== null && known.value !== null)
        return this.#knownFacts(outpoint, known, tip, node, asker);
    }
    if (node === null || isGenesisCoinbase(outpoint.txid)) return null;
    const unspent = await nodeOutput(node, outpoint, true);
    if (unspent === null) return null;
    const { confirmations, value, script } = unspent;
    if (known !== undefined && tip !== null) return factsOf({ ...known, value, script }, tip, false);
    return { confirmations, indexed: confirmations > 0, inscriptions: [], script, spent: false, value };
  }

  /**
   * The data that the index has about an output whose transaction is not available here. Throws `why` if the index has
   * no data.
   */
  async #factsAlone(
    { tip, known: { byPlace } }: AskedOutputs,
    place: number,
    outpoint: Outpoint,
    why: AppError,
    node: NodeRpc | null,
    asker: Asker,
  ): Promise<OutputFacts> {
    const known = byPlace.get(place);
    if (known === undefined || tip === null) throw why;
    return this.#knownFacts(outpoint, known, tip, node, asker);
  }

  async #factsWith(
    { tip, known: { byPlace, hasAll, hasAllWithValue }, knowsRunes }: AskedOutputs,
    place: number,
    outpoint: Outpoint,
    { transaction, confirmations }: FoundTransaction,
    node: NodeRpc | null,
    asker: Asker,
  ): Promise<OutputFacts> {
    const output = outputAt(transaction, outpoint);
    const known = byPlace.get(place);
    if (known !== undefined && tip !== null)
      return this.#knownFacts(outpoint, { ...known, ...output }, tip, node, asker);
    const isGenesis = isGenesisCoinbase(outpoint.txid);
    const facts = { ...output, confirmations, inscriptions: [] };
    if (node === null || isGenesis) {
      // Without a node, only the index and the transaction tell whether the output is in the chain. An unspendable
      // output is in the chain. So is the genesis output, which counts as never spent. If all unspent outputs are
      // indexed, any other output that is not found is spent.
      const isInChain = isGenesis || isUnspendable(output.script);
      if (isInChain || hasAll || (hasAllWithValue && output.value > 0))
        return { ...facts, indexed: isInChain, spent: !isGenesis };
      throw new AppError('no_node', whyUntold(outpoint, knowsRunes, hasAllWithValue));
    }
    // an output that only a mempool transaction spends is still an output of the chain
    const isInChain =
      confirmations > 0 &&
      (isUnspendable(output.script) || (await nodeOutput(node, outpoint, false)) !== null);
    return { ...facts, indexed: isInChain, spent: true };
  }

  /**
   * The data of an unspent output of the index. The node tells whether the mempool spends the output. If the node does
   * not answer, the output counts as unspent.
   */
  async #knownFacts(
    outpoint: Outpoint,
    known: KnownOutput,
    tip: Tip,
    node: NodeRpc | null,
    { signal }: Asker,
  ): Promise<OutputFacts> {
    const { script } = known;
    const isSpentAtNode = async (): Promise<boolean | null> => {
      // the node does not know the output of the first coinbase
      if (node === null || isGenesisCoinbase(outpoint.txid)) return script === null ? null : false;
      try {
        return (await nodeOutput(node, outpoint, true)) === null;
      } catch (error) {
        signal.throwIfAborted();
        this.#logger.warn({ err: error }, 'the node did not say whether an output is spent in the mempool');
        return script === null ? null : false;
      }
    };
    const isSpent = (script !== null && isUnspendable(script)) || (await isSpentAtNode());
    return factsOf(known, tip, isSpent);
  }
}

function factsOf(
  { height, inscriptions, script, value }: KnownOutput,
  tip: Tip,
  spent: boolean | null,
): OutputFacts {
  return { confirmations: tip.height - height + 1, indexed: true, inscriptions, script, spent, value };
}

/** Explains why it is unknown whether an output is spent, and what the server would need to know this. */
function whyUntold(outpoint: Outpoint, knowsRunes: boolean, hasAllWithValue: boolean): string {
  const held = knowsRunes ? 'neither inscriptions nor runes' : 'no inscription, and its runes are unknown';
  const needed = hasAllWithValue ? 'It also has no sats. ' : '';
  return `output ${outpointText(outpoint)} holds ${held}. ${needed}Without a node or --index-addresses it is unknown whether the output is spent`;
}
