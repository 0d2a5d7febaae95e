import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { RpcTransaction } from '#test/support/node/rpc-transaction.ts';

interface ChainOutput {
  /** `<txid>:<vout>`. */
  readonly outpoint: string;
  /** In hex. */
  readonly script: string;
  /** Sats. */
  readonly value: number;
}

interface ChainTransaction {
  readonly txid: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly ChainOutput[];
  readonly virtualBytes: number;
}

/** What the best chain of a node has, by the node alone: nothing of ours has read it. */
export class ChainMoney {
  readonly #byScript = new Map<string, ChainOutput[]>();
  readonly #spender = new Map<string, ChainTransaction>();

  /** @param from the first block that pays anybody who is asked about */
  static async read(rpc: NodeRpc, from = 1): Promise<ChainMoney> {
    const money = new ChainMoney();
    const tip = await rpc.call<number>('getblockcount');
    for (let height = from; height <= tip; height++) {
      const hash = await rpc.call<string>('getblockhash', [height]);
      const { tx } = await rpc.call<{ tx: readonly RpcTransaction[] }>('getblock', [hash, 2]);
      for (const transaction of tx) money.#add(transaction);
    }
    return money;
  }

  paidTo(script: string): readonly ChainOutput[] {
    return this.#byScript.get(script) ?? [];
  }

  spenderOf(outpoint: string): ChainTransaction | null {
    return this.#spender.get(outpoint) ?? null;
  }

  #add({ txid, vin, vout, vsize }: RpcTransaction): void {
    const outputs = vout.map(({ n, value, scriptPubKey: { hex: script } }) => {
      return { outpoint: `${txid}:${n}`, script, value: satsOfBitcoins(Number(value)) };
    });
    const inputs = vin.flatMap((input) => (input.txid === undefined ? [] : [`${input.txid}:${input.vout}`]));
    const transaction = { txid, inputs, outputs, virtualBytes: vsize };
    for (const input of inputs) this.#spender.set(input, transaction);
    for (const output of outputs) {
      this.#byScript.set(output.script, [...this.paidTo(output.script), output]);
    }
  }
}

/**
 * Where a customer's money may go: scripts of their own, that nobody else pays to; or a burn, to which this money is
 * followed. In hex.
 */
export interface MoneyOf {
  readonly address: string;
  readonly receiver: string;
  readonly refund: string;
  /** Where the inventory lies that it may take a sat of; absent: it takes none. */
  readonly inventory?: string;
}

/** What became of all that was paid to an order. Sats. */
export interface MoneyFate {
  readonly payments: number;
  readonly paid: number;
  /** Of each output to the receiver. */
  readonly delivered: readonly number[];
  readonly refunded: number;
  readonly fees: number;
  /** Virtual bytes of each transaction that spent it. */
  readonly sizes: readonly number[];
  /** With the service: unspent outputs that are neither the receiver's nor the refund's. */
  readonly kept: number;
  /** Of each payment that nobody has spent. */
  readonly left: readonly number[];
  /** What came from the inventory and did not go back there. */
  readonly lent: number;
  /** Inputs of the transactions that spent it which are somebody else's money. */
  readonly foreign: readonly string[];
}

/** Follows what was paid to an address through all transactions that spent it. */
export function fateOf(chain: ChainMoney, { address, receiver, refund, inventory }: MoneyOf): MoneyFate {
  const payments = chain.paidTo(address);
  const ours = new Map(payments.map(({ outpoint, value }) => [outpoint, value]));
  const stocked = inventory === undefined ? [] : chain.paidTo(inventory);
  const stock = new Map(stocked.map(({ outpoint, value }) => [outpoint, value]));
  const spending = new Map<string, ChainTransaction>();
  const kept = new Map<string, number>();
  const open = payments.map(({ outpoint }) => outpoint);
  const delivered: number[] = [];
  let refunded = 0;
  for (let outpoint = open.pop(); outpoint !== undefined; outpoint = open.pop()) {
    const spender = chain.spenderOf(outpoint);
    if (spender === null || spending.has(spender.txid)) continue;
    spending.set(spender.txid, spender);
    for (const output of spender.outputs) {
      if (output.script === receiver) delivered.push(output.value);
      else if (output.script === refund) refunded += output.value;
      else if (!stock.has(output.outpoint)) {
        ours.set(output.outpoint, output.value);
        kept.set(output.outpoint, output.value);
        open.push(output.outpoint);
      }
    }
  }
  const transactions = [...spending.values()];
  const inputs = transactions.flatMap((transaction) => transaction.inputs);
  for (const input of inputs) kept.delete(input);
  const sumIn = (values: ReadonlyMap<string, number>): number =>
    inputs.reduce((sum, input) => sum + (values.get(input) ?? 0), 0);
  const outputs = transactions.flatMap((transaction) => transaction.outputs);
  const made = outputs.reduce((sum, { value }) => sum + value, 0);
  const given = outputs
    .filter(({ outpoint }) => stock.has(outpoint))
    .reduce((sum, { value }) => sum + value, 0);
  return {
    payments: payments.length,
    paid: payments.reduce((sum, { value }) => sum + value, 0),
    delivered,
    refunded,
    fees: sumIn(ours) + sumIn(stock) - made,
    sizes: transactions.map(({ virtualBytes }) => virtualBytes),
    kept: [...kept.values()].reduce((sum, value) => sum + value, 0),
    left: payments.filter(({ outpoint }) => chain.spenderOf(outpoint) === null).map(({ value }) => value),
    lent: sumIn(stock) - given,
    foreign: inputs.filter((input) => !ours.has(input) && !stock.has(input)),
  };
}
