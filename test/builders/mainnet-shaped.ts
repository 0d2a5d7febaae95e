import { ByteWriter } from './byte-writer.ts';
import {
  type Envelope,
  inscriptionReference,
  littleEndian,
  tag,
  writeEnvelope,
  writePush,
} from './envelope.ts';
import {
  batchCount,
  detailShares,
  imageBytes,
  movedCount,
  paymentShape,
  shareOfCopies,
  transactionShares,
  transactionWeightMax,
} from './mainnet-shape.ts';
import { metadataOf } from './metadata.ts';
import { type Random, seededRandom } from './random.ts';
import { type Text, TextSource } from './texts.ts';
import type { Output } from './transaction.ts';
import {
  blockWeightMax,
  type Coin,
  coinbaseMaturity,
  type SpentCoin,
  type ValidBlock,
  ValidBlocks,
} from './valid-blocks.ts';
import { Wallet } from './wallet.ts';

export interface MainnetShapedOptions {
  readonly seed: string;
  /** Minimum size of all blocks in bytes. Blocks are made until they reach this size. */
  readonly leastBytes: number;
}

const coinsAtStart = 60_000;
const coinsPerFanOut = 1000;
/** Number of outputs of about ten blocks. Half of all spent outputs come from such new outputs. */
const newestCoins = 60_000;
const dustSats = 2000;
const postageSats = 546;
const feeSats = 250;
const heldMax = 50_000;
const roomForAny = 8000;
/** Minimum number of inputs, or outputs, of a large transaction. It is made only if the block has room for it. */
const manyAtLeast = 10;

/** A block of reveals, the block before it that funds the reveals, and the revealed texts in order. */
export interface RevealBlocks {
  readonly funding: ValidBlock;
  readonly block: ValidBlock;
  /** Txids are in internal order. Each inscription is the first of its transaction. */
  readonly reveals: readonly { readonly txid: Uint8Array; readonly body: Uint8Array }[];
}

interface HeldCoin extends Coin {
  /** The inscription in the coin: the txid of its reveal, and its index in the reveal. */
  readonly reveal: Uint8Array;
  readonly index: number;
}

function identityOf({ reveal, index }: HeldCoin): Pick<HeldCoin, 'reveal' | 'index'> {
  return { reveal, index };
}

const text = (value: string): Uint8Array => Buffer.from(value);

/**
 * Nearly full blocks with the shape of mainnet's blocks (mainnet-shape.ts). A regtest node accepts them. They have
 * payments, single and batched reveals, and transfers of inscriptions. Nothing is signed, because anyone can spend each
 * output.
 */
export class MainnetShapedChain {
  readonly #blocks = new ValidBlocks();
  readonly #random: Random;
  readonly #wallet: Wallet;
  readonly #texts: TextSource;
  readonly #matured: Coin[] = [];
  readonly #maturing: Coin[] = [];
  readonly #coins: Coin[] = [];
  readonly #held: HeldCoin[] = [];
  readonly #script = new ByteWriter();

  constructor(seed: string) {
    this.#random = seededRandom(`node chain ${seed}`);
    this.#wallet = new Wallet(this.#random);
    this.#texts = mainnetShapedTexts(seed);
  }

  /** Blocks that only create the coins for all later blocks. */
  *beginning(): Generator<ValidBlock> {
    for (let count = 0; count < coinbaseMaturity; count++) yield this.#mine();
    while (this.#coins.length < coinsAtStart) {
      const coinbase = this.#matured.pop();
      if (coinbase !== undefined) this.#coins.push(...this.#fanOut([coinbase], coinsPerFanOut));
      yield this.#mine();
    }
  }

  /** A nearly full block. */
  full(): ValidBlock {
    const { reveal, batch, move } = transactionShares;
    while (this.#room() > roomForAny) {
      const way = this.#random.unit();
      if (way < reveal) this.#reveal(this.#revealed());
      else if (way < reveal + batch) this.#revealBatch();
      else if (way < reveal + batch + move) this.#move();
      else this.#pay();
    }
    return this.#mine();
  }

  /**
   * Reveals of distinct texts, each with its given words.
   *
   * @param message script of an output with value 0 that each reveal also has. Absent if there is no such output
   */
  revealBlocks(count: number, words: (index: number) => string, message?: Uint8Array): RevealBlocks {
    const needed = count * (postageSats + feeSats) + feeSats;
    const paying: Coin[] = [];
    for (let value = 0; value < needed; ) {
      const coin = this.#matured.pop() ?? this.#takeCoin();
      paying.push(coin);
      value += coin.value;
    }
    const commits = this.#fanOut(paying, count, postageSats + feeSats);
    this.#coins.push(...commits.splice(count).filter(({ value }) => value > dustSats));
    const funding = this.#mine();
    const reveals = commits.map((coin, index) => {
      const fresh = this.#texts.fresh();
      const body = Buffer.concat([fresh.body, text(` ${words(index)}`)]);
      const envelope = { fields: [[tag.contentType, fresh.contentType]] as const, body };
      const made = this.#revealFrom(coin, envelope, message);
      return { txid: made.txid, body };
    });
    return { funding, block: this.#mine(), reveals };
  }

  #room(): number {
    return blockWeightMax - this.#blocks.weight;
  }

  /** Whether the block has room for a large transaction. */
  #hasRoom(): boolean {
    return this.#room() > transactionWeightMax;
  }

  #takeCoin(): Coin {
    const among = Math.min(this.#random.unit() < 0.5 ? newestCoins : this.#coins.length, this.#coins.length);
    return takeAt(this.#coins, this.#coins.length - 1 - this.#random.below(among));
  }

  /** A coin that is spent with a witness, because a witness can hold an envelope. */
  #takeWitnessCoin(): Coin {
    for (;;) {
      const coin = this.#takeCoin();
      if (this.#wallet.signed(coin).witness.length > 0) return coin;
      this.#coins.push(coin);
    }
  }

  #keep(made: readonly Coin[]): void {
    this.#coins.push(...made.filter(({ value }) => value > dustSats));
  }

  #fanOut(from: readonly Coin[], count: number, each?: number): Coin[] {
    const total = from.reduce((sum, { value }) => sum + value, 0) - feeSats;
    const value = each ?? Math.floor(total / count);
    const outputs = Array.from({ length: count }, () => ({
      value,
      script: each === undefined ? this.#wallet.owner() : this.#wallet.taproot(),
    }));
    if (each !== undefined) outputs.push({ value: total - count * each, script: this.#wallet.owner() });
    return this.#blocks.spend(
      from.map((coin) => this.#wallet.signed(coin)),
      outputs,
    );
  }

  #pay(): void {
    const shape = paymentShape(this.#random);
    if (Math.max(shape.inputs, shape.outputs) >= manyAtLeast && !this.#hasRoom()) return;
    const inputs = Array.from({ length: shape.inputs }, () => this.#takeCoin());
    const total = inputs.reduce((sum, { value }) => sum + value, 0) - feeSats;
    const count = Math.max(
      1,
      Math.min(shape.outputs - (shape.hasOpReturn ? 1 : 0), Math.floor(total / dustSats)),
    );
    const each = Math.floor(total / count);
    const outputs: Output[] = Array.from({ length: count }, (_, index) => ({
      value: index === 0 ? total - (count - 1) * each : each,
      script: this.#wallet.owner(),
    }));
    if (shape.hasOpReturn) outputs.push({ value: 0, script: this.#wallet.runestone() });
    this.#keep(
      this.#blocks.spend(
        inputs.map((coin) => this.#wallet.signed(coin)),
        outputs,
      ),
    );
  }

  /** The content of a single reveal. Sometimes the content is large, if there is room. */
  #revealed(): Envelope {
    if (this.#random.unit() < transactionShares.image / transactionShares.reveal && this.#hasRoom()) {
      return {
        fields: [[tag.contentType, text('image/webp')]],
        body: this.#wallet.bytes(imageBytes(this.#random)),
      };
    }
    const envelope = this.#small();
    if (this.#random.unit() >= detailShares.metadata) return envelope;
    return { ...envelope, fields: [...envelope.fields, [tag.metadata, metadataOf(this.#random)]] };
  }

  #small(): Envelope {
    const { contentType, body }: Text = this.#texts.next();
    return { fields: [[tag.contentType, contentType]], body };
  }

  #reveal(envelope: Envelope): void {
    const coin = this.#takeWitnessCoin();
    const parent =
      this.#random.unit() < detailShares.parent && this.#held.length > 0 ? this.#takeHeld() : null;
    if (parent === null) {
      this.#revealFrom(coin, envelope);
      return;
    }
    const field = [tag.parent, inscriptionReference(parent.reveal, parent.index)] as const;
    const [kept, made, change] = this.#blocks.spend(
      [
        this.#wallet.signed(parent),
        this.#revealing(coin, { ...envelope, fields: [field, ...envelope.fields] }),
      ],
      [
        { value: parent.value, script: this.#wallet.owner() },
        { value: postageSats, script: this.#wallet.owner() },
        { value: coin.value - postageSats - feeSats, script: this.#wallet.owner() },
      ],
    ) as [Coin, Coin, Coin];
    this.#held.push({ ...kept, ...identityOf(parent) });
    this.#hold(made, made.txid);
    if (change.value > dustSats) this.#coins.push(change);
  }

  #revealFrom(coin: Coin, envelope: Envelope, message?: Uint8Array): Coin {
    const change = coin.value - postageSats - feeSats;
    const outputs = [{ value: postageSats, script: this.#wallet.owner() }];
    if (change > dustSats) outputs.push({ value: change, script: this.#wallet.owner() });
    if (message !== undefined) outputs.push({ value: 0, script: message });
    const [made, rest] = this.#blocks.spend([this.#revealing(coin, envelope)], outputs) as [Coin, Coin?];
    this.#hold(made, made.txid);
    if (rest !== undefined && rest.value > dustSats) this.#coins.push(rest);
    return made;
  }

  /** Reveals many envelopes with one input. Each inscription gets its own output by a pointer. */
  #revealBatch(): void {
    const count = batchCount(this.#random);
    if (!this.#hasRoom()) return;
    const envelopes = Array.from({ length: count }, (_, index): Envelope => {
      const { fields, body } = this.#small();
      const pointer = [tag.pointer, littleEndian(index * postageSats)] as const;
      return { fields: index === 0 ? fields : [...fields, pointer], body };
    });
    const coin = this.#takeWitnessCoin();
    const paying: Coin[] = [];
    let value = coin.value;
    for (; value < count * postageSats + feeSats; value += paying.at(-1)?.value ?? 0) {
      paying.push(this.#takeCoin());
    }
    const outputs = Array.from({ length: count }, () => ({
      value: postageSats,
      script: this.#wallet.owner(),
    }));
    const change = value - count * postageSats - feeSats;
    const made = this.#blocks.spend(
      [this.#revealing(coin, ...envelopes), ...paying.map((each) => this.#wallet.signed(each))],
      [...outputs, { value: change, script: this.#wallet.owner() }],
    );
    this.#keep(made.slice(count));
    for (const [index, inscribed] of made.slice(0, count).entries())
      this.#hold(inscribed, inscribed.txid, index);
  }

  /** A script path spend: signature, script with the envelopes, control block. */
  #revealing(coin: Coin, ...envelopes: readonly Envelope[]): SpentCoin {
    this.#script.clear();
    writePush(this.#script, this.#wallet.bytes(32));
    this.#script.u8(0xac);
    for (const envelope of envelopes) writeEnvelope(this.#script, envelope);
    return { coin, witness: [this.#wallet.bytes(64), this.#script.copy(), this.#wallet.bytes(33)] };
  }

  #hold(coin: Coin, reveal: Uint8Array, index = 0): void {
    const held = { ...coin, reveal, index };
    if (this.#held.length < heldMax) this.#held.push(held);
    else this.#held[this.#random.below(heldMax)] = held;
  }

  #takeHeld(): HeldCoin {
    return takeAt(this.#held, this.#random.below(this.#held.length));
  }

  /** Moves one or several inscriptions, each to its own output. Another coin pays the fee. */
  #move(): void {
    const count = Math.min(movedCount(this.#random), this.#held.length);
    if (count === 0 || (count >= manyAtLeast && !this.#hasRoom())) return;
    const moving = Array.from({ length: count }, () => this.#takeHeld());
    const paying = this.#takeCoin();
    const outputs = moving.map(({ value }) => ({ value, script: this.#wallet.owner() }));
    const made = this.#blocks.spend(
      [...moving, paying].map((coin) => this.#wallet.signed(coin)),
      [...outputs, { value: paying.value - feeSats, script: this.#wallet.owner() }],
    );
    for (const [at, held] of moving.entries())
      this.#held.push({ ...(made[at] as Coin), ...identityOf(held) });
    this.#keep(made.slice(count));
  }

  #mine(): ValidBlock {
    const block = this.#blocks.mine({ coinbaseScript: this.#wallet.owner() });
    this.#maturing.push(block.coinbase);
    // only the next block may spend this coinbase
    if (this.#maturing.length >= coinbaseMaturity) this.#matured.push(this.#maturing.shift() as Coin);
    return block;
  }
}

function takeAt<Value>(values: Value[], at: number): Value {
  const taken = values[at] as Value;
  values[at] = values.at(-1) as Value;
  values.pop();
  return taken;
}

/**
 * The texts of a chain in order. They have their own random stream, so they can be drawn again without the rest of the
 * chain.
 */
export function mainnetShapedTexts(seed: string): TextSource {
  return new TextSource(seededRandom(`node texts ${seed}`), shareOfCopies);
}

/** The chain from height 1 on, until it reaches the size `leastBytes`. */
export function* mainnetShapedBlocks({ seed, leastBytes }: MainnetShapedOptions): Generator<ValidBlock> {
  const chain = new MainnetShapedChain(seed);
  let bytes = 0;
  for (const block of chain.beginning()) {
    bytes += block.bytes.length;
    yield block;
  }
  while (bytes < leastBytes) {
    const block = chain.full();
    bytes += block.bytes.length;
    yield block;
  }
}
