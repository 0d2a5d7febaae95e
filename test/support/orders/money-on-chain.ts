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

/** Number of blocks in one request to the node. */
const readAtOnce = 16;

async function transactionsAt(rpc: NodeRpc, height: number): Promise<readonly RpcTransaction[]> {
  const hash = await rpc.call<string>('getblockhash', [height]);
  return (await rpc.call<{ tx: readonly RpcTransaction[] }>('getblock', [hash, 2])).tx;
}

/** The transactions of a node's best chain, read from the node alone, without code of the service. */
export class ChainMoney {
  readonly #outputs = new Map<string, ChainOutput>();
  readonly #byScript = new Map<string, ChainOutput[]>();
  readonly #spender = new Map<string, ChainTransaction>();

  /** @param from the first block that pays any of the examined scripts */
  static async read(rpc: NodeRpc, from = 1): Promise<ChainMoney> {
    const money = new ChainMoney();
    const tip = await rpc.call<number>('getblockcount');
    for (let height = from; height <= tip; height += readAtOnce) {
      const heights = Array.from(
        { length: Math.min(readAtOnce, tip - height + 1) },
        (_, place) => height + place,
      );
      const blocks = await Promise.all(heights.map((each) => transactionsAt(rpc, each)));
      for (const transaction of blocks.flat()) money.#add(transaction);
    }
    return money;
  }

  paidTo(script: string): readonly ChainOutput[] {
    return this.#byScript.get(script) ?? [];
  }

  /** Returns `null` if the output is older than the blocks that were read. */
  output(outpoint: string): ChainOutput | null {
    return this.#outputs.get(outpoint) ?? null;
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
      this.#outputs.set(output.outpoint, output);
      this.#byScript.set(output.script, [...this.paidTo(output.script), output]);
    }
  }
}

/**
 * Allowed destinations of a customer's money: the customer's own scripts, which no one else pays, or a burn, which the
 * check follows. Scripts are in hex.
 */
export interface MoneyOf {
  readonly address: string;
  /** One script for all inscriptions, or one script for each inscription. */
  readonly receivers: readonly string[];
  readonly refund: string;
  /** Script of the inventory whose sats the order may use. Default: none. */
  readonly inventory?: string;
  /** Deposit addresses of the parents, and their return address. Default: the order has no parents. */
  readonly parents?: { readonly deposits: readonly string[]; readonly home: string };
  /** Ids of transactions that the service's own money pays for. Default: none. */
  readonly operator?: {
    /** Returns of this order's parents. */
    readonly returns: ReadonlySet<string>;
    /** Returns of other orders, and bumps. They spend revenue, which counts as kept by the service. */
    readonly others: ReadonlySet<string>;
  };
}

const noParents = { deposits: [], home: '' };
const nothing = { returns: new Set<string>(), others: new Set<string>() };

/** Destinations of all payments to an order, in sats. */
export interface MoneyFate {
  readonly payments: number;
  readonly paid: number;
  /** Sats of each output to a receiver, in any order. */
  readonly delivered: readonly number[];
  /** The scripts of these outputs. */
  readonly deliveredTo: readonly string[];
  readonly refunded: number;
  readonly fees: number;
  /** Virtual bytes of each transaction that spent the money. */
  readonly sizes: readonly number[];
  /**
   * Sats that the service kept. These are outputs to neither a receiver nor the refund address, minus the service's own
   * money that paid for returns.
   */
  readonly kept: number;
  /** Sats of each unspent payment. */
  readonly left: readonly number[];
  /** Sats of the inventory that did not return to the inventory. */
  readonly lent: number;
  /** Sats of parents that neither returned nor are still at their deposit addresses. */
  readonly borrowed: number;
  /**
   * Inputs with money of others, in the transactions that spent this money. The service's own inputs in returns are not
   * included.
   */
  readonly foreign: readonly string[];
  /** Scripts of the service's own money that paid for returns. */
  readonly given: readonly string[];
}

/** Follows payments to an address through all transactions that spent them. */
export function fateOf(chain: ChainMoney, of: MoneyOf): MoneyFate {
  const { address, receivers, refund, parents = noParents, operator = nothing } = of;
  const payments = chain.paidTo(address);
  const ours = valuesOf(payments);
  const stock = valuesOf(stockOf(chain, of));
  const deposits = valuesOf(parents.deposits.flatMap((script) => chain.paidTo(script)));
  const isReturned = ({ outpoint, script }: ChainOutput): boolean =>
    deposits.has(outpoint) || script === parents.home;
  const spending = new Map<string, ChainTransaction>();
  const kept = new Map<string, number>();
  const open = [...ours.keys(), ...deposits.keys()];
  const isOurs = (output: ChainOutput): boolean =>
    !receivers.includes(output.script) &&
    output.script !== refund &&
    !stock.has(output.outpoint) &&
    !isReturned(output);
  for (let outpoint = open.pop(); outpoint !== undefined; outpoint = open.pop()) {
    const spender = chain.spenderOf(outpoint);
    if (spender === null || spending.has(spender.txid)) continue;
    if (kept.has(outpoint) && operator.others.has(spender.txid)) continue;
    spending.set(spender.txid, spender);
    for (const output of spender.outputs.filter(isOurs)) {
      ours.set(output.outpoint, output.value);
      kept.set(output.outpoint, output.value);
      open.push(output.outpoint);
    }
  }
  const transactions = [...spending.values()];
  const inputs = transactions.flatMap((transaction) => transaction.inputs);
  for (const input of inputs) kept.delete(input);
  const sumIn = (values: ReadonlyMap<string, number>): number =>
    inputs.reduce((sum, input) => sum + (values.get(input) ?? 0), 0);
  const outputs = transactions.flatMap((transaction) => transaction.outputs);
  const delivered = outputs.filter(({ script }) => receivers.includes(script));
  const isForeign = (input: string): boolean => !ours.has(input) && !stock.has(input) && !deposits.has(input);
  const given = valuesOf(
    transactions
      .filter(({ txid }) => operator.returns.has(txid))
      .flatMap((transaction) => transaction.inputs.filter(isForeign))
      .flatMap((input) => chain.output(input) ?? []),
  );
  return {
    payments: payments.length,
    paid: payments.reduce((sum, { value }) => sum + value, 0),
    delivered: delivered.map(({ value }) => value),
    deliveredTo: delivered.map(({ script }) => script),
    refunded: sumOf(outputs.filter(({ script }) => script === refund)),
    fees: sumIn(ours) + sumIn(stock) + sumIn(deposits) + sumIn(given) - sumOf(outputs),
    sizes: transactions.map(({ virtualBytes }) => virtualBytes),
    kept: sumOfValues(kept) - sumOfValues(given),
    given: [...given.keys()].flatMap((outpoint) => chain.output(outpoint)?.script ?? []),
    left: payments.filter(({ outpoint }) => chain.spenderOf(outpoint) === null).map(({ value }) => value),
    lent: sumIn(stock) - sumOf(outputs.filter(({ outpoint }) => stock.has(outpoint))),
    borrowed: sumIn(deposits) - sumOf(outputs.filter(isReturned)),
    foreign: inputs.filter((input) => isForeign(input) && !given.has(input)),
  };
}

const stockOf = (chain: ChainMoney, { inventory }: MoneyOf): readonly ChainOutput[] =>
  inventory === undefined ? [] : chain.paidTo(inventory);
const sumOfValues = (values: ReadonlyMap<string, number>): number =>
  [...values.values()].reduce((sum, value) => sum + value, 0);
const valuesOf = (outputs: readonly ChainOutput[]): Map<string, number> =>
  new Map(outputs.map(({ outpoint, value }) => [outpoint, value]));
const sumOf = (outputs: readonly ChainOutput[]): number => outputs.reduce((sum, { value }) => sum + value, 0);
