import type { DemoPayments } from '#http/demo/demo-payments.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { withWitnesses } from '#wallet/encode-transaction.ts';

/**
 * P2WSH of OP_TRUE: anyone who knows the script can spend it, so the demo needs no key. Blocks of the sample hold 80
 * such coins, and those that the demo mines pay to it too.
 */
const openScript = '00204ae81572f06e1b88fd5ced7a1a000945432e83e1551e6f721ee9c00b8cc33260';
/** A taproot address for orders of people who try the demo. Its key is unknown. */
const receiver = 'bcrt1ppv5z0dqmcnzlrr4cfzuxa9d83r8u5k7hc79tuy0srzw8g2sssqyqldkvme';
/** OP_TRUE. */
const openWitness = Uint8Array.of(0x51);
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
  readonly txid: Txid;
  readonly vout: number;
  readonly sats: number;
}

/** An output of a payment. */
export interface DemoOutput {
  readonly script: Uint8Array;
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

  async pay(address: string, sats: number): Promise<string> {
    const found = await this.#rpc.call<{ isvalid: boolean; scriptPubKey?: string }>('validateaddress', [
      address,
    ]);
    if (!found.isvalid || found.scriptPubKey === undefined)
      throw wrong('this is no address of regtest', 'address');
    return this.send([{ script: Buffer.from(found.scriptPubKey, 'hex'), sats }]);
  }

  /** Sends a transaction with these outputs, and change after them. Throws `request_invalid` if no coins are left. */
  send(outputs: readonly DemoOutput[]): Promise<string> {
    const sent = this.#last.then(() => this.#send(outputs));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  async #send(outputs: readonly DemoOutput[]): Promise<string> {
    const sats = outputs.reduce((sum, output) => sum + output.sats, 0);
    const coins = await this.#coinsFor(sats);
    const change = coins.reduce((sum, coin) => sum + coin.sats, 0) - sats - feeOf(coins.length);
    const returned = change < changeMin ? [] : [{ script: Buffer.from(openScript, 'hex'), sats: change }];
    const bytes = withWitnesses(
      {
        version: 2,
        lockTime: 0,
        inputs: coins.map(({ txid, vout }) => ({ txid, vout, sequence: replaceableSequence })),
        outputs: [...outputs, ...returned].map((output) => ({
          script: output.script,
          value: BigInt(output.sats),
        })),
      },
      coins.map(() => [openWitness]),
    );
    return this.#rpc.call<string>('sendrawtransaction', [Buffer.from(bytes).toString('hex')]);
  }

  /** Coins in blocks that no transaction of the mempool spends, for an amount and the fee. */
  async #coinsFor(sats: number): Promise<Coin[]> {
    const { height, unspents } = await this.#rpc.call<Scanned>('scantxoutset', ['start', [openDescriptor]]);
    const chosen: Coin[] = [];
    let sum = 0;
    for (const { txid: shown, vout, amount, height: of, coinbase = false } of unspents) {
      if (coinbase && height - of < maturity) continue;
      // null: the mempool spends it
      if ((await this.#rpc.call<unknown>('gettxout', [shown, vout])) === null) continue;
      const txid = parseTxid(shown);
      if (txid === null) continue;
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

const wrong = (message: string, parameter: string): InvalidRequest =>
  new InvalidRequest([{ message, parameter }]);
