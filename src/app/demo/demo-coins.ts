import type { DemoPayments } from '#http/demo/demo-payments.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';

/**
 * P2WSH of OP_TRUE: any one who knows the script can spend it, so the demo needs no key. Blocks of the sample hold 80
 * such coins, and those that the demo mines pay to it too.
 */
const openScript = '00204ae81572f06e1b88fd5ced7a1a000945432e83e1551e6f721ee9c00b8cc33260';
const openAddress = 'bcrt1qft5p2uhsdcdc3l2ua4ap5qqfg4pjaqlp250x7us7a8qqhrxrxfsqseac85';
/** A taproot address for what people order to try the demo. Its key is unknown. */
const receiver = 'bcrt1ppv5z0dqmcnzlrr4cfzuxa9d83r8u5k7hc79tuy0srzw8g2sssqyqldkvme';
/** One item of one byte, OP_TRUE. */
const openWitness = '010151';
export const openDescriptor = `raw(${openScript})`;

const maturity = 100;
/** Sats for a transaction with two outputs, and for each input: some sats a byte. */
const [feeSats, feeSatsOfInput] = [600, 300];
const changeMin = 1_000;
/** More inputs would make a transaction that takes a second; a coin pays for hundreds of orders. */
const inputsMax = 100;

interface Scanned {
  readonly height: number;
  readonly unspents: readonly {
    readonly txid: string;
    readonly vout: number;
    readonly amount: number;
    readonly height: number;
    readonly coinbase?: boolean;
  }[];
}

interface Coin {
  readonly txid: string;
  readonly vout: number;
  readonly sats: number;
}

/** Payments from coins that need no key, one after another. */
export class DemoCoins implements DemoPayments {
  readonly receiver = receiver;
  readonly #rpc: BatchRpc;
  #last: Promise<unknown> = Promise.resolve();

  constructor(rpc: BatchRpc) {
    this.#rpc = rpc;
  }

  pay(address: string, sats: number): Promise<string> {
    const paid = this.#last.then(() => this.#pay(address, sats));
    this.#last = paid.catch(() => undefined);
    return paid;
  }

  async #pay(address: string, sats: number): Promise<string> {
    const { isvalid } = await this.#rpc.call<{ isvalid: boolean }>('validateaddress', [address]);
    if (!isvalid) throw wrong('this is no address of regtest', 'address');
    const coins = await this.#coinsFor(sats);
    const change = coins.reduce((sum, coin) => sum + coin.sats, 0) - sats - feeOf(coins.length);
    const unsigned = await this.#rpc.call<string>('createrawtransaction', [
      coins.map(({ txid, vout }) => ({ txid, vout })),
      [{ [address]: bitcoins(sats) }, ...(change < changeMin ? [] : [{ [openAddress]: bitcoins(change) }])],
    ]);
    return this.#rpc.call<string>('sendrawtransaction', [withWitnesses(unsigned, coins.length)]);
  }

  /** Coins in blocks that no transaction of the mempool spends, for an amount and the fee. */
  async #coinsFor(sats: number): Promise<Coin[]> {
    const { height, unspents } = await this.#rpc.call<Scanned>('scantxoutset', ['start', [openDescriptor]]);
    const chosen: Coin[] = [];
    let sum = 0;
    for (const { txid, vout, amount, height: of, coinbase = false } of unspents) {
      if (coinbase && height - of < maturity) continue;
      // null: the mempool spends it
      if ((await this.#rpc.call<unknown>('gettxout', [txid, vout])) === null) continue;
      const coin = { txid, vout, sats: satsOfBitcoins(Number(amount)) };
      chosen.push(coin);
      sum += coin.sats;
      if (sum >= sats + feeOf(chosen.length)) return chosen;
      if (chosen.length === inputsMax) break;
    }
    throw wrong('the demo has no more coins for this: wait for its next block, or ask for less', 'sats');
  }
}

const feeOf = (inputs: number): number => feeSats + inputs * feeSatsOfInput;

/** In the node's form: exact, with eight decimals. */
const bitcoins = (sats: number): string =>
  `${Math.floor(sats / 100_000_000)}.${String(sats % 100_000_000).padStart(8, '0')}`;

const wrong = (message: string, parameter: string): InvalidRequest =>
  new InvalidRequest([{ message, parameter }]);

const versionDigits = 8;
const lockTimeDigits = 8;

/** The transaction in the form of BIP 144, each input with the open witness. */
function withWitnesses(hex: string, inputs: number): string {
  const version = hex.slice(0, versionDigits);
  const parts = hex.slice(versionDigits, -lockTimeDigits);
  return `${version}0001${parts}${openWitness.repeat(inputs)}${hex.slice(-lockTimeDigits)}`;
}
