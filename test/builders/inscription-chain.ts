import { deflateRawSync } from 'node:zlib';
import { BlockBuilder, type RawBlock, regtestGenesis } from './block.ts';
import { type BlockFolder, SpentWriter } from './block-folder.ts';
import { ByteWriter } from './byte-writer.ts';
import { type ItemMetadata, ItemMetadataSource } from './item-metadata.ts';
import { type Random, seededRandom } from './random.ts';
import { type Text, TextSource } from './texts.ts';
import { type Input, type Output, writeRevealScript } from './transaction.ts';

export interface ChainOptions {
  readonly seed: string;
  readonly inscriptions: number;
  /** Share of inscriptions that repeat an earlier text, 0 … 1. */
  readonly shareOfCopies: number;
  readonly revealsPerBlock: number;
  /** Number of transfers of inscriptions as a share of the reveals of a block, 0 … 1. */
  readonly shareOfMoves: number;
  /** Number of blocks with distinct reveals at the end, for the bench of the tip. */
  readonly tipBlocks: number;
  readonly revealsPerTipBlock: number;
  /**
   * Share of inscriptions with metadata, 0 … 1. The last blocks have no metadata. If absent, no inscription has
   * metadata.
   */
  readonly shareOfMetadata?: number;
}

const subsidy = 5_000_000_000;
const halvingInterval = 150; // in blocks, on regtest
const maturity = 100; // blocks until a coinbase is spendable; the coinbases of the first 100 blocks pay for everything
const postage = 546;
const fee = 300;
const moveFee = 100;
const blockIntervalSeconds = 600;
const genesisTime = 1_296_688_602;

interface Coin extends Output {
  readonly txid: Uint8Array;
  readonly vout: number;
}

const noBytes = new Uint8Array(0);

function taprootScript(random: Random): Uint8Array {
  const script = Buffer.allocUnsafe(34);
  script[0] = 0x51;
  script[1] = 0x20;
  random.fill(script, 2, 32);
  return script;
}

function randomBytes(random: Random, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  random.fill(bytes, 0, length);
  return bytes;
}

/** Builds the chain block by block. In every block, one fan-out transaction funds the reveals of the next block. */
class ChainWriter {
  height = 0;
  #previous: RawBlock = regtestGenesis;
  readonly #builder = new BlockBuilder();
  readonly #spent = new SpentWriter();
  readonly #script = new ByteWriter();
  readonly #matured: Coin[] = [];
  #commits: Coin[] = [];
  #nextCommits: Coin[] = [];
  #change: Coin | null = null;
  #fees = 0;
  /** Outputs with an inscription that never moved. `null` if none will move: 10,000,000 of them take 4 GB. */
  readonly #unmoved: Coin[] | null;
  readonly #folder: BlockFolder;
  readonly #random: Random;

  constructor(folder: BlockFolder, random: Random, hasMoves: boolean) {
    this.#unmoved = hasMoves ? [] : null;
    this.#folder = folder;
    this.#random = random;
    folder.add(0, regtestGenesis, this.#spent.finish());
    for (let count = 0; count < 2 * maturity; count++) this.#matured.push(this.finishBlock());
    this.#matured.length = maturity;
  }

  /** Pays `count` outputs, which fund the reveals of the next block. */
  fanOut(count: number): void {
    if (count === 0) return;
    const coins: Coin[] = this.#change === null ? [] : [this.#change];
    const needed = (count + 1) * (postage + fee) + count;
    let value = this.#change?.value ?? 0;
    while (value < needed) {
      const coin = this.#matured.shift();
      if (coin === undefined)
        throw new RangeError('the chain has no matured coinbase left to pay for reveals');
      coins.push(coin);
      value += coin.value;
    }
    const outputs: Output[] = Array.from({ length: count }, () => ({
      value: postage + fee,
      script: taprootScript(this.#random),
    }));
    outputs.push({ value: value - count * (postage + fee) - count, script: taprootScript(this.#random) });
    const made = this.#spend(coins, outputs, []);
    this.#change = made.pop() as Coin;
    this.#nextCommits = made;
  }

  reveal(text: Text, metadata: ItemMetadata | null = null): void {
    const coin = this.#commits.pop() as Coin;
    this.#script.clear();
    const key = randomBytes(this.#random, 32);
    writeRevealScript(this.#script, key, text.contentType, text.body, metadata?.cbor);
    const control = randomBytes(this.#random, 33);
    control[0] = 0xc0;
    const outputs = [{ value: postage, script: taprootScript(this.#random) }];
    const made = this.#spend([coin], outputs, [randomBytes(this.#random, 64), this.#script.copy(), control]);
    this.#unmoved?.push(...made);
  }

  /** Sends an inscription that never moved to a new owner. */
  move(): void {
    const unmoved = this.#unmoved;
    if (unmoved === null || unmoved.length === 0) return;
    const at = this.#random.below(unmoved.length);
    const coin = unmoved[at] as Coin;
    unmoved[at] = unmoved.at(-1) as Coin;
    unmoved.pop();
    this.#spend([coin], [{ value: coin.value - moveFee, script: taprootScript(this.#random) }], []);
  }

  finishBlock(): Coin {
    this.height++;
    const reward = subsidy / 2 ** Math.floor(this.height / halvingInterval);
    const output = { value: Math.floor(reward) + this.#fees, script: taprootScript(this.#random) };
    const time = genesisTime + this.height * blockIntervalSeconds;
    const block = this.#builder.finish(this.height, this.#previous.hash, time, [output]);
    this.#folder.add(this.height, block, this.#spent.finish());
    this.#previous = block;
    this.#fees = 0;
    this.#commits = this.#nextCommits;
    this.#nextCommits = [];
    return { ...output, txid: block.coinbase, vout: 0 };
  }

  #spend(coins: readonly Coin[], outputs: readonly Output[], scriptPath: readonly Uint8Array[]): Coin[] {
    const inputs: Input[] = coins.map(({ txid, vout }) => ({
      txid,
      vout,
      scriptSig: noBytes,
      witness: scriptPath.length > 0 ? scriptPath : [randomBytes(this.#random, 64)],
    }));
    const txid = this.#builder.add({ inputs, outputs });
    this.#spent.add(coins);
    for (const coin of coins) this.#fees += coin.value;
    for (const output of outputs) this.#fees -= output.value;
    return outputs.map((output, vout) => ({ ...output, txid, vout }));
  }
}

/** Ratio of deflated bytes to bytes of the distinct texts. Noise has 1. Real BRC-20 texts are well below a half. */
function compressibility(texts: readonly Text[]): number {
  const bytes = Buffer.concat(texts.slice(0, 20_000).map((text) => text.body));
  return deflateRawSync(bytes).length / bytes.length;
}

/**
 * The texts of a chain, from the first text on. They have their own random stream, so they can be drawn again without
 * the rest of the chain.
 */
export function chainTexts(options: Pick<ChainOptions, 'seed' | 'shareOfCopies'>): TextSource {
  return new TextSource(seededRandom(`texts ${options.seed}`), options.shareOfCopies);
}

/**
 * The metadata of a chain's inscriptions, which also has its own random stream. `null` if no inscription has metadata.
 */
export function chainMetadata({
  seed,
  shareOfMetadata = 0,
}: Pick<ChainOptions, 'seed' | 'shareOfMetadata'>): ItemMetadataSource | null {
  if (shareOfMetadata === 0) return null;
  return new ItemMetadataSource(seededRandom(`metadata ${seed}`), shareOfMetadata);
}

/**
 * A complete regtest chain of small text inscriptions, with all outputs that it spends. It has the network's genesis
 * block, blocks that only pay coinbases until they mature, blocks of reveals, and the blocks for the tip's bench. Only
 * the signatures are invalid, because they are random bytes.
 */
export function generateInscriptionChain(folder: BlockFolder, options: ChainOptions): void {
  const texts = chainTexts(options);
  const metadata = chainMetadata(options);
  const chain = new ChainWriter(folder, seededRandom(`chain ${options.seed}`), options.shareOfMoves > 0);
  const plan = [{ reveals: 0, fresh: false }];
  for (let left = options.inscriptions; left > 0; left -= options.revealsPerBlock) {
    plan.push({ reveals: Math.min(left, options.revealsPerBlock), fresh: false });
  }
  // use two blocks, because funding and reveals together would exceed the maximum weight
  for (let block = 0; block < options.tipBlocks; block++) {
    plan.push({ reveals: 0, fresh: true }, { reveals: options.revealsPerTipBlock, fresh: true });
  }
  let bytes = 0;
  let distinct = 0;
  let bulkHeight = 0;
  plan.forEach(({ reveals, fresh }, index) => {
    for (let count = 0; count < reveals; count++) {
      const text = fresh ? texts.fresh() : texts.next();
      if (!fresh) bytes += text.body.length;
      chain.reveal(text, fresh ? null : (metadata?.next() ?? null));
    }
    if (!fresh) for (let count = Math.round(reveals * options.shareOfMoves); count > 0; count--) chain.move();
    chain.fanOut(plan[index + 1]?.reveals ?? 0);
    chain.finishBlock();
    if (!fresh) {
      bulkHeight = chain.height;
      distinct = texts.distinct.length;
    }
  });
  folder.finish(false, {
    ...options,
    bulkHeight,
    tipHeight: chain.height,
    distinctTexts: distinct,
    meanBodyBytes: bytes / options.inscriptions,
    shareOfCopies: 1 - distinct / options.inscriptions,
    compressibility: compressibility(texts.distinct.slice(0, distinct)),
  });
}
