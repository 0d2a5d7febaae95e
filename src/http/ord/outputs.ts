import { lostOutpoint, unboundOutpoint } from '#chain/inscriptions/location.queries.ts';
import {
  fingerprintKey,
  inscriptionsOutside,
  type KnownOutput,
  type KnownOutputs,
  knownOutputs,
  type Outpoint,
} from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { AppDependencies } from '#http/server/app-dependencies.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { noSats, type Sats } from '#kernel/primitives/sats.ts';
import { idText } from './answers.ts';
import { nodeOutput } from './node-questions.ts';
import { fingerprintsOf } from './transactions/outpoint-candidates.ts';
import { isGenesisCoinbase, type Transactions } from './transactions/transactions.ts';

/** The fields of ord's `/output`, except those that follow from the outpoint. */
interface OutputFacts {
  readonly confirmations: number;
  readonly indexed: boolean;
  readonly inscriptions: readonly string[];
  readonly script: Uint8Array;
  readonly spent: boolean;
  readonly value: Sats;
}

/** An answer, and the tip that it describes. */
interface Answer {
  readonly tip: Tip | null;
  readonly json: string;
}

/** The most lost or unbound inscriptions in one answer, 14 MB. ord lists them all. */
const outsideMax = 200_000;
/** Concurrent calls of the node for one request of many outputs. */
const callsMax = 8;
const opReturn = 0x6a;
/** Longer scripts are unspendable (Bitcoin Core script/script.h, `MAX_SCRIPT_SIZE`). */
const spendableScriptMax = 10_000;

const outpointText = ({ txid, vout }: Outpoint): string => `${displayHash(txid)}:${vout}`;

/** Unspendable outputs are never in a node's UTXO set, so ord reports them as spent. */
function isUnspendable(script: Uint8Array): boolean {
  return script[0] === opReturn || script.length > spendableScriptMax;
}

/** Answers about outputs: those with inscriptions come from the index, the others from the node. */
export class Outputs {
  readonly #deps: AppDependencies;
  readonly #transactions: Transactions;

  constructor(deps: AppDependencies, transactions: Transactions) {
    this.#deps = deps;
    this.#transactions = transactions;
  }

  /** `/output/<outpoint>`. Throws `not_found`, and `no_node` where only a node has the answer. */
  async output(outpoint: Outpoint): Promise<Answer> {
    const outside = await this.#outside(outpoint);
    if (outside !== null) return { tip: outside.tip, json: this.#json(outpoint, outside.facts) };
    const { tip, known } = await this.#known([outpoint]);
    const facts = await this.#factsOf(outpoint, 0, known, tip);
    return { tip, json: this.#json(outpoint, facts) };
  }

  /**
   * `POST /outputs`. As in ord, the outpoints of lost and unbound inscriptions are refused: both lists are unbounded.
   */
  async outputs(outpoints: readonly Outpoint[]): Promise<Answer> {
    for (const outpoint of outpoints) {
      const text = outpointText(outpoint);
      if (text === lostOutpoint || text === unboundOutpoint)
        throw new AppError('request_invalid', `outpoint ${text} may not be queried in batch`);
    }
    const { tip, known } = await this.#known(outpoints);
    const answers: string[] = [];
    const queue = outpoints.entries();
    const lane = async (): Promise<void> => {
      for (const [place, outpoint] of queue)
        answers[place] = this.#json(outpoint, await this.#factsOf(outpoint, place, known, tip));
    };
    await Promise.all(Array.from({ length: callsMax }, lane));
    return { tip, json: `[${answers.join(',')}]` };
  }

  /** `/r/utxo/<outpoint>`: only outputs that are unspent in the chain. */
  async utxo(outpoint: Outpoint): Promise<Answer> {
    const outside = await this.#outside(outpoint);
    const text = outpointText(outpoint);
    const missing = new AppError('not_found', `output ${text} not found`);
    if (outside !== null) {
      if (outside.facts.inscriptions.length === 0) throw missing;
      return { tip: outside.tip, json: utxoJson(outside.facts) };
    }
    const { tip, known } = await this.#known([outpoint]);
    const held = known.byPlace.get(0);
    if (held !== undefined)
      return {
        tip,
        json: utxoJson({ inscriptions: held.inscriptions.map(idText), value: held.value }),
      };
    const facts = await this.#factsOf(outpoint, 0, known, tip);
    if (!facts.indexed) throw missing;
    return { tip, json: utxoJson(facts) };
  }

  /** The answers for the lost and the unbound outpoint, which are not real outputs; null for any other. */
  async #outside(outpoint: Outpoint): Promise<{ tip: Tip | null; facts: OutputFacts } | null> {
    const text = outpointText(outpoint);
    const place = text === lostOutpoint ? 'lost' : text === unboundOutpoint ? 'unbound' : null;
    if (place === null) return null;
    return withSnapshot(this.#deps.pool, async ({ client, tip }) => {
      const found = await inscriptionsOutside(client, place, outsideMax + 1);
      if (found.length > outsideMax)
        throw new AppError('address_too_large', `more than ${outsideMax} inscriptions are ${place}`);
      const inscriptions = found.map(idText);
      const nothing = { confirmations: 0, script: new Uint8Array(0), spent: false, value: noSats };
      return { tip, facts: { ...nothing, indexed: true, inscriptions } };
    });
  }

  async #known(outpoints: readonly Outpoint[]): Promise<{ tip: Tip | null; known: KnownOutputs }> {
    return withSnapshot(this.#deps.pool, async ({ client, tip }) => {
      const key = await fingerprintKey(client);
      if (key === null) return { tip, known: { byPlace: new Map<number, KnownOutput>(), hasAll: false } };
      return { tip, known: await knownOutputs(client, outpoints, fingerprintsOf(key, outpoints)) };
    });
  }

  async #factsOf(
    outpoint: Outpoint,
    place: number,
    { byPlace, hasAll }: KnownOutputs,
    tip: Tip | null,
  ): Promise<OutputFacts> {
    const known = byPlace.get(place);
    if (known !== undefined && tip !== null) return this.#knownFacts(outpoint, known, tip);
    const { node } = this.#deps;
    if (node == null || isGenesisCoinbase(outpoint.txid)) return this.#factsWithoutNode(outpoint, hasAll);
    const unspent = await nodeOutput(node, outpoint, true);
    if (unspent !== null) {
      const { confirmations, value, script } = unspent;
      return { confirmations, indexed: confirmations > 0, inscriptions: [], script, spent: false, value };
    }
    return this.#spentFacts(outpoint, node);
  }

  /**
   * An unspent output of the index. The node says whether the mempool spends it; without its answer it counts as
   * unspent.
   */
  async #knownFacts(outpoint: Outpoint, known: KnownOutput, tip: Tip): Promise<OutputFacts> {
    const { node, logger } = this.#deps;
    const script = known.script ?? (await this.#outputOf(outpoint)).script;
    const isSpentAtNode = async (): Promise<boolean> => {
      // the node does not know the first coinbase's output
      if (node == null || isGenesisCoinbase(outpoint.txid)) return false;
      try {
        return (await nodeOutput(node, outpoint, true)) === null;
      } catch (error) {
        logger.warn({ err: error }, 'the node did not say whether an output is spent in the mempool');
        return false;
      }
    };
    return {
      confirmations: tip.height - known.height + 1,
      indexed: true,
      inscriptions: known.inscriptions.map(idText),
      script,
      spent: isUnspendable(script) || (await isSpentAtNode()),
      value: known.value,
    };
  }

  async #spentFacts(outpoint: Outpoint, node: NodeRpc): Promise<OutputFacts> {
    const { script, value, confirmations } = await this.#outputOf(outpoint);
    // spent only in the mempool, so still an output of the chain
    const isInChain =
      confirmations > 0 && (isUnspendable(script) || (await nodeOutput(node, outpoint, false)) !== null);
    return { confirmations, indexed: isInChain, inscriptions: [], script, spent: true, value };
  }

  /**
   * Answers from the index and the transaction alone: for unspendable outputs, for the one that counts as never
   * spent, and, where all unspent outputs are indexed, for all others, which are then spent.
   */
  async #factsWithoutNode(outpoint: Outpoint, hasAll: boolean): Promise<OutputFacts> {
    const isGenesis = isGenesisCoinbase(outpoint.txid);
    const { script, value, confirmations } = await this.#outputOf(outpoint);
    const isInChain = isGenesis || isUnspendable(script);
    if (!isInChain && !hasAll)
      throw new AppError(
        'no_node',
        `output ${outpointText(outpoint)} holds no inscription: whether it is spent needs a node or --index-addresses`,
      );
    return { confirmations, indexed: isInChain, inscriptions: [], script, spent: !isGenesis, value };
  }

  async #outputOf(outpoint: Outpoint): Promise<{ script: Uint8Array; value: Sats; confirmations: number }> {
    const { transaction, confirmations } = await this.#transactions.find(outpoint.txid);
    const output = transaction.outputs[outpoint.vout];
    if (output === undefined) throw new AppError('not_found', `output ${outpointText(outpoint)} not found`);
    return { ...output, confirmations };
  }

  #json(outpoint: Outpoint, facts: OutputFacts): string {
    const { confirmations, indexed, inscriptions, script, spent, value } = facts;
    return JSON.stringify({
      address: scriptToAddress(script, this.#deps.network),
      confirmations,
      indexed,
      inscriptions,
      outpoint: outpointText(outpoint),
      sat_ranges: null,
      script_pubkey: Buffer.from(script).toString('hex'),
      spent,
      transaction: displayHash(outpoint.txid),
      value,
    });
  }
}

function utxoJson({ inscriptions, value }: Pick<OutputFacts, 'inscriptions' | 'value'>): string {
  return JSON.stringify({ inscriptions, sat_ranges: null, value });
}
