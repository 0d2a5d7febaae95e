import { displayHash } from '#kernel/primitives/hash.ts';
import { regtestGenesis } from '#test/builders/block.ts';
import { BlockFolder, SpentWriter } from '#test/builders/block-folder.ts';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { type Envelope, writeEnvelope } from '#test/builders/envelope.ts';
import type { Output } from '#test/builders/transaction.ts';
import {
  blockWeightMax,
  type Coin,
  coinbaseMaturity,
  openScript,
  ValidBlocks,
} from '#test/builders/valid-blocks.ts';

const postageSats = 10_000;
/**
 * Weight that a block must have left for its header, its coinbase, and the parts of a transaction outside the envelope.
 */
const roomWeight = 4000;
/** Weight of an output with a program of 20 bytes. `inputWeight` is more than an input needs. */
const outputWeight = 4 * (8 + 1 + 22);
const inputWeight = 200;
const stoneWeight = 4 * 200;
export const minerScript = openScript(Buffer.alloc(20, 1));
const anyWitness: readonly Uint8Array[] = [new Uint8Array(1)];

/** The position of a transaction in the chain, in the form of a rune's id. */
export interface Place {
  readonly height: number;
  readonly index: number;
}

/** A regtest chain in a folder of blocks. It follows the rules of ord and of consensus. */
export class MinedChain {
  readonly #blocks = new ValidBlocks();
  readonly #spent = new SpentWriter();
  readonly #script = new ByteWriter(1 << 20);
  readonly #folder: BlockFolder;
  #coins: Coin[] = [];
  /** The coin that pays for transactions. */
  #purse: Coin | null = null;

  constructor(dir: string) {
    this.#folder = new BlockFolder(dir);
    this.#folder.add(0, regtestGenesis, this.#spent.finish());
  }

  get height(): number {
    return this.#blocks.height;
  }

  /** The position of the next transaction, which has this number of outputs and inputs. */
  placeFor(outputs: number, inputs = 0): Place {
    this.#makeRoom((outputs + 1) * outputWeight + (inputs + 1) * inputWeight + stoneWeight);
    return { height: this.height + 1, index: this.#blocks.nextPlace };
  }

  /**
   * Mines until the first coinbase is spendable, and splits this coinbase. Half of it pays for everything that is not
   * an inscription.
   */
  fund(coins: number): void {
    const first = this.mine();
    while (this.height < coinbaseMaturity) this.mine();
    const half = Math.floor(first.value / 2);
    const value = Math.floor(half / (coins + 1));
    this.#spent.add([first]);
    const [purse, ...split] = this.#blocks.spend(
      [{ coin: first, witness: anyWitness }],
      [half, ...Array.from({ length: coins }, () => value)].map((sats) => ({
        value: sats,
        script: minerScript,
      })),
    );
    this.#purse = purse!;
    this.#coins = split;
    this.mine();
  }

  /** Reveals an inscription, and returns its id. If the current block is full, the reveal is in the next block. */
  inscribe(envelope: Envelope): string {
    this.#script.clear();
    writeEnvelope(this.#script, envelope);
    this.#makeRoom(this.#script.length);
    const coin = this.#coins.pop()!;
    this.#spent.add([coin]);
    const [output] = this.#blocks.spend(
      [{ coin, witness: [this.#script.copy(), Buffer.alloc(33, 0xc0)] }],
      [{ value: postageSats, script: minerScript }],
    );
    return `${displayHash(output!.txid)}i0`;
  }

  /** Reveals several inscriptions with one input, and pays outputs from the input's first sat on. Returns the txid. */
  inscribeMany(items: readonly { readonly envelope: Envelope; readonly output: Output }[]): string {
    this.#script.clear();
    for (const { envelope } of items) writeEnvelope(this.#script, envelope);
    this.#makeRoom(this.#script.length + (items.length + 1) * outputWeight);
    const coin = this.#purse!;
    const outputs = items.map(({ output }) => output);
    const paid = outputs.reduce((sats, { value }) => sats + value, 0);
    this.#spent.add([coin]);
    const made = this.#blocks.spend(
      [{ coin, witness: [this.#script.copy(), Buffer.alloc(33, 0xc0)] }],
      [...outputs, { value: coin.value - paid, script: minerScript }],
    );
    this.#purse = made.pop()!;
    return displayHash(made[0]!.txid);
  }

  /**
   * Pays outputs. The last output is the change. The transaction spends `inputs` before the purse. Returns the paid
   * outputs.
   */
  pay(outputs: readonly Output[], inputs: readonly Coin[] = []): Coin[] {
    this.placeFor(outputs.length, inputs.length);
    const coins = [...inputs, this.#purse!];
    const sum = (values: readonly Output[]): number => values.reduce((sats, { value }) => sats + value, 0);
    const change = { value: sum(coins) - sum(outputs), script: minerScript };
    this.#spent.add(coins);
    const made = this.#blocks.spend(
      coins.map((coin) => ({ coin, witness: anyWitness })),
      [...outputs, change],
    );
    this.#purse = made.pop()!;
    return made;
  }

  mine(): Coin {
    const block = this.#blocks.mine({ coinbaseScript: minerScript });
    this.#folder.add(block.height, block, this.#spent.finish());
    return block.coinbase;
  }

  finish(): void {
    this.mine();
    this.#folder.finish(false, {});
  }

  /** Mines the current block if this weight does not fit into it. */
  #makeRoom(weight: number): void {
    if (this.#blocks.weight + weight + roomWeight > blockWeightMax) this.mine();
  }
}
