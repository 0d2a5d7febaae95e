import type { DemoPayments } from '#http/demo/demo-payments.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { withWitnesses } from '#wallet/encode-transaction.ts';

/**
 * The P2WSH script of OP_TRUE. Anyone who knows the script can spend its outputs, so the demo needs no key. The blocks
 * of the sample contain 80 such coins, and the blocks that the demo mines pay to this script too.
 */
const openScript = '00204ae81572f06e1b88fd5ced7a1a000945432e83e1551e6f721ee9c00b8cc33260';
/** A taproot address that receives the orders of people who try the demo. Its key is unknown. */
const receiver = 'bcrt1ppv5z0dqmcnzlrr4cfzuxa9d83r8u5k7hc79tuy0srzw8g2sssqyqldkvme';
/** OP_TRUE. */
const openWitness = Uint8Array.of(0x51);
export const openDescriptor = `raw(${openScript})`;

const maturity = 100;
/** Fee in sats for a transaction with two outputs, and for each input. This is a few sats per byte. */
const [feeSats, feeSatsOfInput] = [600, 300];
const changeMin = 1_000;
/**
 * Maximum number of inputs. A transaction with more inputs would take about a second to make. One coin pays for
 * hundreds of orders.
 */
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

/** An output that a payment creates. */
export interface DemoOutput {
  readonly script: Uint8Array;
  readonly sats: number;
}

/** Makes payments, one after another, from coins that need no key. */
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
      throw wrong('this is not an address of regtest', 'address');
    return this.send([{ script: Buffer.from(found.scriptPubKey, 'hex'), sats }]);
  }

  /**
   * Sends a transaction with these outputs, followed by a change output. Throws `request_invalid` if no coins are left.
   */
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

  /** Finds enough confirmed coins for an amount and the fee. Coins that a mempool transaction spends are left out. */
  async #coinsFor(sats: number): Promise<Coin[]> {
    const { height, unspents } = await this.#rpc.call<Scanned>('scantxoutset', ['start', [openDescriptor]]);
    const chosen: Coin[] = [];
    let sum = 0;
    for (const { txid: shown, vout, amount, height: of, coinbase = false } of unspents) {
      if (coinbase && height - of < maturity) continue;
      // `null` means that a mempool transaction spends this coin
      if ((await this.#rpc.call<unknown>('gettxout', [shown, vout])) === null) continue;
      const txid = parseTxid(shown);
      if (txid === null) continue;
      const coin = { txid, vout, sats: satsOfBitcoins(Number(amount)) };
      chosen.push(coin);
      sum += coin.sats;
      if (sum >= sats + feeOf(chosen.length)) return chosen;
      if (chosen.length === inputsMax) break;
    }
    throw wrong(
      'the demo does not have enough coins for this; wait for its next block, or request a smaller amount',
      'sats',
    );
  }
}

const feeOf = (inputs: number): number => feeSats + inputs * feeSatsOfInput;

const wrong = (message: string, parameter: string): InvalidRequest =>
  new InvalidRequest([{ message, parameter }]);
