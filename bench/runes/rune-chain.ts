import { join } from 'node:path';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import { BlockBuilder, type RawBlock, regtestGenesis } from '#test/builders/block.ts';
import {
  type BlockFolder,
  cachedFolder,
  type Description,
  SpentWriter,
} from '#test/builders/block-folder.ts';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { TextSource } from '#test/builders/texts.ts';
import { type Output, writeRevealScript } from '#test/builders/transaction.ts';
import { benchData, parametersName } from '../index/generated-chain.ts';

export interface RuneChainOptions {
  readonly seed: string;
  readonly blocks: number;
  /** Share of transactions with a runestone, 0 to 1. The others are like mainnet's payments, reveals and moves. */
  readonly share: number;
  /** Share of sales after two dummies among the moves of inscriptions, 0 to 1. Default: no sales. */
  readonly sold?: number;
}

export interface MadeRuneChain {
  readonly dir: string;
  readonly description: Description;
}

/** Shares of reveals and moves among the transactions without a runestone (test/builders/mainnet-shape.ts). */
const others = { reveal: 0.117, move: 0.086 } as const;
/** Share of mints among the transactions with a runestone, as in 2024. The others move minted units. */
const mintShare = 0.7;
const transactionsPerBlock = 2000;
/** Number of runes that can be minted at the same time. */
const runeCount = 60;
const ownerCount = 20_000;
const version = 1;
const postage = 546;
/** Sighash type SINGLE with ANYONECANPAY. */
const pairType = 0x83;
const noBytes = new Uint8Array(0);

interface Coin extends Output {
  readonly txid: Uint8Array;
  readonly vout: number;
}

/** A coin, with a witness if this is not the usual one. */
interface SpentCoin extends Coin {
  readonly witness?: readonly Uint8Array[];
}

interface RunicCoin extends Coin {
  readonly rune: number;
}

/** Writes a chain. Its headers, roots and witness commitments are valid, but the coins that pay for it are invented. */
class RuneChainWriter {
  height = 0;
  runicOutputs = 0;
  sales = 0;
  #previous: RawBlock = regtestGenesis;
  readonly #builder = new BlockBuilder();
  readonly #spent = new SpentWriter();
  readonly #script = new ByteWriter();
  readonly #folder: BlockFolder;
  readonly #random: Random;
  readonly #texts: TextSource;
  readonly #runic: RunicCoin[] = [];
  readonly #inscribed: Coin[] = [];

  readonly #sold: number;

  constructor(folder: BlockFolder, { seed, sold = 0 }: RuneChainOptions) {
    this.#folder = folder;
    this.#sold = sold;
    this.#random = seededRandom(`runes ${seed}`);
    this.#texts = new TextSource(seededRandom(`texts ${seed}`), 0.26);
    folder.add(0, regtestGenesis, this.#spent.finish());
  }

  etchAll(): void {
    const terms = {
      amount: smallU128(1000),
      cap: smallU128(2 ** 40),
      heightStart: null,
      heightEnd: null,
      offsetStart: null,
      offsetEnd: null,
    };
    for (let rune = 0; rune < runeCount; rune++) {
      const etching = {
        divisibility: 2,
        premine: null,
        rune: null,
        spacers: null,
        symbol: 0x24,
        terms,
        turbo: false,
      };
      this.#spend([this.#foreign()], [this.#stone({ etching })]);
    }
    this.finishBlock();
  }

  fill(share: number): void {
    for (let transaction = 0; transaction < transactionsPerBlock; transaction++) {
      if (this.#random.unit() < share) this.#runicTransaction();
      else this.#other();
    }
    this.finishBlock();
  }

  finishBlock(): void {
    this.height++;
    const output = { value: 5_000_000_000, script: this.#owner() };
    const block = this.#builder.finish(this.height, this.#previous.hash, 1_300_000_000 + this.height * 600, [
      output,
    ]);
    this.#folder.add(this.height, block, this.#spent.finish());
    this.#previous = block;
  }

  #runicTransaction(): void {
    const coin = this.#random.unit() < mintShare ? null : this.#take(this.#runic);
    if (coin === null) {
      const rune = this.#random.below(runeCount);
      const mint = { block: smallU128(1), tx: rune + 1 };
      const outputs = [this.#stone({ mint, pointer: 1 }), this.#payment(), this.#payment()];
      const made = this.#spend([this.#foreign()], outputs);
      this.#keep(made[1]!, rune);
      return;
    }
    const id = { block: smallU128(1), tx: coin.rune + 1 };
    const edicts = [{ id, amount: smallU128(1 + this.#random.below(400)), output: 1 }];
    const outputs = [this.#stone({ edicts, pointer: 2 }), this.#payment(), this.#payment(), this.#payment()];
    const made = this.#spend([coin, this.#foreign()], outputs);
    this.#keep(made[1]!, coin.rune);
    this.#keep(made[2]!, coin.rune);
  }

  #keep(coin: Coin, rune: number): void {
    this.runicOutputs++;
    this.#runic.push({ ...coin, rune });
  }

  #other(): void {
    const way = this.#random.unit();
    if (way < others.reveal) this.#reveal();
    else if (way < others.reveal + others.move) this.#move();
    else {
      const inputs = Array.from({ length: 1 + this.#random.below(3) }, () => this.#foreign());
      this.#spend(
        inputs,
        Array.from({ length: 1 + this.#random.below(4) }, () => this.#payment()),
      );
    }
  }

  #reveal(): void {
    const text = this.#texts.next();
    this.#script.clear();
    writeRevealScript(this.#script, this.#bytes(32), text.contentType, text.body);
    const control = this.#bytes(33);
    control[0] = 0xc0;
    const witness = [this.#bytes(64), this.#script.copy(), control];
    this.#inscribed.push(...this.#spend([this.#foreign()], [this.#payment()], witness));
  }

  #move(): void {
    const coin = this.#take(this.#inscribed);
    if (coin === null) return;
    const isSold = this.#sold > 0 && this.#random.unit() < this.#sold;
    this.#inscribed.push(isSold ? this.#sell(coin) : this.#spend([coin], [this.#payment()])[0]!);
  }

  /** Makes a purchase after two dummies. Output 1 has the item, output 2 pays the item's holder. */
  #sell(coin: Coin): Coin {
    this.sales++;
    const buyer = this.#owner();
    const price = 10_000 + this.#random.below(1_000_000);
    const paying = { ...this.#foreign(), script: buyer };
    const inputs = [
      { ...paying, value: 600 },
      { ...paying, value: 600, txid: this.#bytes(32) },
      { ...coin, witness: [Buffer.concat([this.#bytes(64), Buffer.of(pairType)])] },
      { ...paying, value: 2_000_000, txid: this.#bytes(32) },
    ];
    const outputs = [
      { value: 1_200, script: buyer },
      { value: coin.value, script: buyer },
      { value: price + coin.value, script: coin.script },
      { value: 900_000, script: buyer },
    ];
    return this.#spend(inputs, outputs)[1]!;
  }

  /** Takes a coin. In half of the cases it is one of the newest. */
  #take<C>(coins: C[]): C | null {
    if (coins.length === 0) return null;
    const newest = Math.min(coins.length, 10_000);
    const back = this.#random.unit() < 0.5 ? newest : coins.length;
    const at = coins.length - 1 - this.#random.below(back);
    const coin = coins[at]!;
    coins[at] = coins.at(-1)!;
    coins.pop();
    return coin;
  }

  #stone(stone: Partial<Omit<Runestone, 'kind'>>): Output {
    const whole = {
      kind: 'runestone',
      edicts: [],
      etching: null,
      mint: null,
      pointer: null,
      ...stone,
    } as const;
    return { value: 0, script: encipher(whole) };
  }

  #payment(): Output {
    return { value: postage, script: this.#owner() };
  }

  /** A P2TR script of one of many owners. Few of these owners have most coins. */
  #owner(): Uint8Array {
    const script = Buffer.alloc(34);
    const owner = Math.floor(this.#random.unit() ** 3 * ownerCount);
    script.writeUInt32LE(owner, 2);
    script[0] = 0x51;
    script[1] = 0x20;
    return script;
  }

  #foreign(): Coin {
    return { value: 10_000, script: this.#owner(), txid: this.#bytes(32), vout: this.#random.below(3) };
  }

  #bytes(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    this.#random.fill(bytes, 0, length);
    return bytes;
  }

  #spend(
    coins: readonly SpentCoin[],
    outputs: readonly Output[],
    witness: readonly Uint8Array[] = [this.#bytes(64)],
  ): Coin[] {
    const inputs = coins.map((coin) => ({
      txid: coin.txid,
      vout: coin.vout,
      scriptSig: noBytes,
      witness: coin.witness ?? witness,
    }));
    const txid = this.#builder.add({ inputs, outputs });
    this.#spent.add(coins);
    return outputs.map((output, vout) => ({ ...output, txid, vout }));
  }
}

/** Returns a chain of full blocks with this share of runestones. It is made on first use. */
export function runeChain(options: RuneChainOptions): MadeRuneChain {
  const dir = join(benchData, `runes-${parametersName([version, options])}`);
  const description = cachedFolder(dir, (folder) => {
    const chain = new RuneChainWriter(folder, options);
    chain.etchAll();
    while (chain.height < options.blocks) chain.fill(options.share);
    folder.finish(false, {
      blocks: chain.height,
      share: options.share,
      runicOutputs: chain.runicOutputs,
      sales: chain.sales,
    });
  });
  return { dir, description };
}
