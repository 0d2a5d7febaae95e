import { transactionId } from '#indexer/transaction/transaction-id.ts';
import { SpentWriter } from '#test/builders/block-folder.ts';
import { seededRandom } from '#test/builders/random.ts';
import type { FedBlock } from '#test/support/chain/runes/rune-store.ts';
import {
  blockOf,
  compactSize,
  type TestOutput,
  transaction,
} from '#test/unit/indexer/parse/synthetic-block.ts';

interface Coin {
  readonly outpoint: Buffer;
  readonly value: number;
  readonly script: Buffer;
}

interface Made {
  readonly bytes: Buffer;
  readonly txid: Buffer;
  readonly outputs: readonly TestOutput[];
}

const subsidy = 5_000_000_000;
const nullOutpoint = Buffer.concat([Buffer.alloc(32), Buffer.alloc(4, 0xff)]);
const plain = Buffer.from('00142222222222222222222222222222222222222222', 'hex');
const burnt = Buffer.from('6a0101', 'hex');

/**
 * Random blocks that cut and join coins. They contain outputs without value, burnt outputs, fees, chains of spends
 * within a block, coinbases that claim too little, and twins of earlier coinbases (BIP 30). No other transaction has a
 * twin. The same seed gives the same chain, and a block can be made again on another branch.
 */
export class RandomSatChain {
  readonly #random;
  readonly #grain: number;
  #coins: Coin[] = [];
  #coinbases: Made[] = [];
  /** Txids of transactions other than coinbases. */
  #txids = new Set<string>();
  #height = 0;
  #serial = 0;
  readonly #before: { coins: Coin[]; coinbases: Made[]; txids: Set<string> }[] = [];

  /**
   * @param grain all values are multiples of this number; with a large one, coins are often cut where they were cut
   *   before
   */
  constructor(seed: string, grain = 1) {
    this.#random = seededRandom(seed);
    this.#grain = grain;
  }

  get height(): number {
    return this.#height;
  }

  below(bound: number): number {
    return this.#random.below(bound);
  }

  push(): FedBlock {
    const [coins, coinbases, txids] = [[...this.#coins], [...this.#coinbases], new Set(this.#txids)];
    this.#before.push({ coins, coinbases, txids });
    const spent = new SpentWriter();
    const transactions: Buffer[] = [];
    let fees = 0;
    const count = this.#height === 0 ? 0 : this.below(6);
    for (let index = 0; index < count && this.#coins.length > 0; index++) {
      const taken = this.#takeCoins();
      const worth = taken.reduce((total, { value }) => total + value, 0);
      const { made, outputs } = this.#spend(taken, this.#outputs(worth));
      spent.add(taken.map(({ value, script }) => ({ value, script })));
      fees += worth - sum(outputs);
      transactions.push(made.bytes);
      this.#keep(made);
    }
    const coinbase = this.#coinbase(subsidy + fees);
    this.#keep(coinbase);
    const bytes = Uint8Array.from(blockOf(transactions, coinbase.bytes));
    return { height: this.#height++, bytes, spent: Uint8Array.from(spent.finish()) };
  }

  /** Removes the last block. */
  pop(): void {
    const before = this.#before.pop();
    if (before === undefined) throw new Error('there is no block');
    this.#coins = before.coins;
    this.#coinbases = before.coinbases;
    this.#txids = before.txids;
    this.#height--;
  }

  /**
   * Makes a transaction. Adds outputs without value until no other transaction has its txid. Without this, the output
   * of a coinbase and that of its twin could be spent in the same way, and the two spends would be twins. BIP 30
   * forbids that; its only two exceptions are coinbases.
   */
  #spend(coins: readonly Coin[], wanted: readonly TestOutput[]): { made: Made; outputs: TestOutput[] } {
    const inputs = coins.map(({ outpoint }) => ({ outpoint }));
    const outputs = [...wanted];
    let made = this.#make(inputs, outputs);
    for (; this.#txids.has(made.txid.toString('hex')); made = this.#make(inputs, outputs))
      outputs.push({ value: 0n, script: burnt });
    this.#txids.add(made.txid.toString('hex'));
    return { made, outputs };
  }

  #takeCoins(): Coin[] {
    const wanted = 1 + this.below(3);
    const coins: Coin[] = [];
    while (coins.length < wanted && this.#coins.length > 0) {
      // often takes a coin that this block made
      const at = this.below(3) === 0 ? this.#coins.length - 1 : this.below(this.#coins.length);
      coins.push(...this.#coins.splice(at, 1));
    }
    return coins;
  }

  /** Outputs that have at most these sats, and often exactly as many. */
  #outputs(worth: number): TestOutput[] {
    let left = this.below(3) === 0 ? worth - this.#value(Math.min(worth, 1_000_000_000)) : worth;
    const outputs: TestOutput[] = [];
    for (let count = this.below(4); count > 0; count--) {
      const value = this.below(4) === 0 ? 0 : this.#value(left);
      left -= value;
      outputs.push({ value: BigInt(value), script: this.below(8) === 0 ? burnt : plain });
    }
    if (this.below(6) > 0) outputs.push({ value: BigInt(left), script: plain });
    return outputs.length === 0 ? [{ value: 0n, script: plain }] : outputs;
  }

  #value(most: number): number {
    return Math.floor(this.below(most + 1) / this.#grain) * this.#grain;
  }

  #coinbase(reward: number): Made {
    const twin = this.#coinbases[this.below(this.#coinbases.length)];
    if (this.below(10) === 0 && twin !== undefined && sum(twin.outputs) <= reward) {
      const txid = twin.txid.toString('hex');
      this.#coins = this.#coins.filter(({ outpoint }) => outpoint.toString('hex', 0, 32) !== txid);
      return twin;
    }
    const made = this.#make(
      [{ outpoint: nullOutpoint, script: Buffer.from(String(++this.#serial)) }],
      this.#outputs(reward),
    );
    this.#coinbases.push(made);
    return made;
  }

  #make(inputs: readonly { outpoint: Buffer; script?: Buffer }[], outputs: readonly TestOutput[]): Made {
    const bytes = transaction(inputs, outputs);
    const inputsLength = inputs.reduce((length, { script }) => length + 41 + (script?.length ?? 0), 0);
    const outputsAt = 4 + compactSize(inputs.length).length + inputsLength;
    return { bytes, txid: Buffer.from(transactionId(bytes, 0, outputsAt, bytes.length)), outputs };
  }

  #keep({ txid, outputs }: Made): void {
    for (const [vout, { value, script = plain }] of outputs.entries()) {
      if (script === burnt) continue;
      const index = Buffer.alloc(4);
      index.writeUInt32LE(vout);
      this.#coins.push({
        outpoint: Buffer.concat([txid, index]),
        value: Number(value),
        script: Buffer.from(script),
      });
    }
  }
}

const sum = (outputs: readonly TestOutput[]): number =>
  outputs.reduce((total, { value }) => total + Number(value), 0);
