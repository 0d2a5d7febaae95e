import { ByteWriter } from './byte-writer.ts';
import { type Envelope, inscriptionReference, tag, writeEnvelope, writePush } from './envelope.ts';
import { type Random, seededRandom } from './random.ts';
import { type Text, TextSource } from './texts.ts';
import {
  blockWeightMax,
  type Coin,
  coinbaseMaturity,
  openScript,
  type SpentCoin,
  type ValidBlock,
  ValidBlocks,
} from './valid-blocks.ts';

export interface MainnetShapedOptions {
  readonly seed: string;
  /** Blocks are made until they have so many bytes. */
  readonly leastBytes: number;
}

/** Shares of transactions beside payments; about what blocks of 2023 and 2024 had. */
const shares = { reveal: 0.2, image: 0.0012, move: 0.04, metadata: 0.05, parent: 0.05 } as const;
const shareOfCopies = 0.6;
const imageMinBytes = 10_000;
const imageMaxBytes = 300_000;
/** Coins to choose from: what is spent was made some ten blocks before, as most is on mainnet. */
const coinsAtStart = 60_000;
const coinsPerFanOut = 2500;
const fanOutsPerBlock = 5;
const dustSats = 2000;
const postageSats = 546;
const feeSats = 250;
const heldMax = 50_000;
/** An image is only begun where the block has room for it. */
const roomForImage = imageMaxBytes + 5000;
const roomForAny = 8000;

/** A block of reveals, the block before it that pays for them, and what is revealed, in order. */
export interface RevealBlocks {
  readonly funding: ValidBlock;
  readonly block: ValidBlock;
  /** Txid in internal order; the inscription is the first of its transaction. */
  readonly reveals: readonly { readonly txid: Uint8Array; readonly body: Uint8Array }[];
}

interface HeldCoin extends Coin {
  /** The inscription in it: its reveal. */
  readonly reveal: Uint8Array;
}

const text = (value: string): Uint8Array => Buffer.from(value);

/** CBOR (RFC 8949) of a small map of texts and numbers. */
function metadataOf(random: Random): Uint8Array {
  const out = new ByteWriter(64);
  const string = (value: string): void => {
    out.u8(0x60 + value.length);
    out.set(text(value));
  };
  out.u8(0xa2);
  string('name');
  string(`#${random.below(10_000)}`);
  string('rank');
  out.u8(0x19);
  out.u8(random.below(256));
  out.u8(random.below(256));
  return out.copy();
}

/**
 * Blocks shaped like mainnet's, nearly full, that a regtest node takes: mostly payments of one to three inputs and
 * outputs, beside them reveals of small texts, some images, transfers of what was revealed. Witnesses are as long as
 * those of mainnet; nothing is signed, as every output can be spent by anybody.
 */
export class MainnetShapedChain {
  private readonly blocks = new ValidBlocks();
  private readonly random: Random;
  private readonly texts: TextSource;
  private readonly matured: Coin[] = [];
  private readonly maturing: Coin[] = [];
  private readonly coins: Coin[] = [];
  private readonly held: HeldCoin[] = [];
  private readonly script = new ByteWriter();

  constructor(seed: string) {
    this.random = seededRandom(`node chain ${seed}`);
    this.texts = mainnetShapedTexts(seed);
  }

  /** Blocks that only make the coins which all later ones spend. */
  *beginning(): Generator<ValidBlock> {
    for (let count = 0; count < coinbaseMaturity; count++) yield this.mine();
    while (this.coins.length < coinsAtStart) {
      for (let count = 0; count < fanOutsPerBlock && this.matured.length > 0; count++) {
        this.coins.push(...this.fanOut([this.matured.pop() as Coin], coinsPerFanOut));
      }
      yield this.mine();
    }
  }

  /** A nearly full block. */
  full(): ValidBlock {
    while (this.room() > roomForAny) {
      const way = this.random.unit();
      if (way < shares.image) {
        if (this.room() > roomForImage) this.reveal(this.image());
      } else if (way < shares.image + shares.reveal) this.reveal(this.small());
      else if (way < shares.image + shares.reveal + shares.move) this.move();
      else this.pay();
    }
    return this.mine();
  }

  /** Reveals of distinct texts, each with the words that it is given. */
  revealBlocks(count: number, words: (index: number) => string): RevealBlocks {
    const needed = count * (postageSats + feeSats) + feeSats;
    const paying: Coin[] = [];
    for (let value = 0; value < needed; ) {
      const coin = this.matured.pop() ?? this.takeCoin();
      paying.push(coin);
      value += coin.value;
    }
    const commits = this.fanOut(paying, count, postageSats + feeSats);
    this.coins.push(...commits.splice(count).filter(({ value }) => value > dustSats));
    const funding = this.mine();
    const reveals = commits.map((coin, index) => {
      const fresh = this.texts.fresh();
      const body = Buffer.concat([fresh.body, text(` ${words(index)}`)]);
      const made = this.revealFrom(coin, { fields: [[tag.contentType, fresh.contentType]], body });
      return { txid: made.txid, body };
    });
    return { funding, block: this.mine(), reveals };
  }

  private room(): number {
    return blockWeightMax - this.blocks.weight;
  }

  private bytes(length: number): Uint8Array {
    const bytes = Buffer.allocUnsafe(length);
    this.random.fill(bytes, 0, length);
    return bytes;
  }

  /** As long as a P2WPKH script, or a P2TR script. */
  private owner(): Uint8Array {
    return openScript(this.bytes(this.random.unit() < 0.6 ? 20 : 32));
  }

  /** Signature and key of a payment to a key hash, or the signature of one to a taproot key. */
  private signed(coin: Coin): SpentCoin {
    return { coin, witness: coin.script.length === 22 ? [this.bytes(72), this.bytes(33)] : [this.bytes(64)] };
  }

  private takeCoin(): Coin {
    return takeAt(this.coins, this.random.below(this.coins.length));
  }

  private fanOut(from: readonly Coin[], count: number, each?: number): Coin[] {
    const total = from.reduce((sum, { value }) => sum + value, 0) - feeSats;
    const value = each ?? Math.floor(total / count);
    const outputs = Array.from({ length: count }, () => ({ value, script: this.owner() }));
    if (each !== undefined) outputs.push({ value: total - count * each, script: this.owner() });
    return this.blocks.spend(
      from.map((coin) => this.signed(coin)),
      outputs,
    );
  }

  private pay(): void {
    const way = this.random.unit();
    const inputs = Array.from({ length: way < 0.7 ? 1 : way < 0.9 ? 2 : 3 }, () => this.takeCoin());
    const total = inputs.reduce((sum, { value }) => sum + value, 0) - feeSats;
    const split = this.random.unit();
    const count = total < 3 * dustSats ? 1 : split < 0.2 ? 1 : split < 0.9 ? 2 : 3;
    const outputs = Array.from({ length: count }, (_, index) => ({
      value: index === 0 ? total - (count - 1) * Math.floor(total / count) : Math.floor(total / count),
      script: this.owner(),
    }));
    const made = this.blocks.spend(
      inputs.map((coin) => this.signed(coin)),
      outputs,
    );
    this.coins.push(...made.filter(({ value }) => value > dustSats));
  }

  private small(): Envelope {
    const { contentType, body }: Text = this.texts.next();
    const fields: [number, Uint8Array][] = [[tag.contentType, contentType]];
    if (this.random.unit() < shares.metadata) fields.push([tag.metadata, metadataOf(this.random)]);
    return { fields, body };
  }

  private image(): Envelope {
    const length = imageMinBytes + this.random.below(imageMaxBytes - imageMinBytes);
    return { fields: [[tag.contentType, text('image/webp')]], body: this.bytes(length) };
  }

  private reveal(envelope: Envelope): void {
    const coin = this.takeCoin();
    const parent = this.random.unit() < shares.parent && this.held.length > 0 ? this.takeHeld() : null;
    if (parent === null) {
      this.revealFrom(coin, envelope);
      return;
    }
    const field = [tag.parent, inscriptionReference(parent.reveal, 0)] as const;
    const [kept, made, change] = this.blocks.spend(
      [this.signed(parent), this.revealing(coin, { ...envelope, fields: [field, ...envelope.fields] })],
      [
        { value: parent.value, script: this.owner() },
        { value: postageSats, script: this.owner() },
        { value: coin.value - postageSats - feeSats, script: this.owner() },
      ],
    ) as [Coin, Coin, Coin];
    this.held.push({ ...kept, reveal: parent.reveal });
    this.hold(made, made.txid);
    if (change.value > dustSats) this.coins.push(change);
  }

  private revealFrom(coin: Coin, envelope: Envelope): Coin {
    const change = coin.value - postageSats - feeSats;
    const outputs = [{ value: postageSats, script: this.owner() }];
    if (change > dustSats) outputs.push({ value: change, script: this.owner() });
    const [made, rest] = this.blocks.spend([this.revealing(coin, envelope)], outputs) as [Coin, Coin?];
    this.hold(made, made.txid);
    if (rest !== undefined) this.coins.push(rest);
    return made;
  }

  /** A script path spend: signature, script with the envelope, control block. */
  private revealing(coin: Coin, envelope: Envelope): SpentCoin {
    this.script.clear();
    writePush(this.script, this.bytes(32));
    this.script.u8(0xac);
    writeEnvelope(this.script, envelope);
    return { coin, witness: [this.bytes(64), this.script.copy(), this.bytes(33)] };
  }

  private hold(coin: Coin, reveal: Uint8Array): void {
    if (this.held.length < heldMax) this.held.push({ ...coin, reveal });
    else this.held[this.random.below(heldMax)] = { ...coin, reveal };
  }

  private takeHeld(): HeldCoin {
    return takeAt(this.held, this.random.below(this.held.length));
  }

  private move(): void {
    if (this.held.length === 0) return;
    const held = this.takeHeld();
    const paying = this.takeCoin();
    const [moved, change] = this.blocks.spend(
      [this.signed(held), this.signed(paying)],
      [
        { value: held.value, script: this.owner() },
        { value: paying.value - feeSats, script: this.owner() },
      ],
    ) as [Coin, Coin];
    this.held.push({ ...moved, reveal: held.reveal });
    this.coins.push(change);
  }

  private mine(): ValidBlock {
    const block = this.blocks.mine({ coinbaseScript: this.owner() });
    this.maturing.push(block.coinbase);
    // the next block is the first that may spend it
    if (this.maturing.length >= coinbaseMaturity) this.matured.push(this.maturing.shift() as Coin);
    return block;
  }
}

function takeAt<Value>(values: Value[], at: number): Value {
  const taken = values[at] as Value;
  values[at] = values.at(-1) as Value;
  values.pop();
  return taken;
}

/** The texts of a chain in their order: drawn apart from all else, so that they can be drawn again without it. */
export function mainnetShapedTexts(seed: string): TextSource {
  return new TextSource(seededRandom(`node texts ${seed}`), shareOfCopies);
}

/** The chain from height 1 on, until it has so many bytes. */
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
