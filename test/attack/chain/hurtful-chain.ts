import { displayHash } from '#kernel/primitives/hash.ts';
import { regtestGenesis } from '#test/builders/block.ts';
import { BlockFolder, SpentWriter } from '#test/builders/block-folder.ts';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { type Envelope, tag, writeEnvelope } from '#test/builders/envelope.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { TextSource } from '#test/builders/texts.ts';
import {
  blockWeightMax,
  type Coin,
  coinbaseMaturity,
  openScript,
  ValidBlocks,
} from '#test/builders/valid-blocks.ts';
import { dearGallery } from './galleries.ts';
import { brotliBomb, contentOf, hostilePages } from './hostile-contents.ts';

/** What the clients of both sides ask for: ids of inscriptions, by what hurts about them. */
export interface Targets {
  /** 14 MB of JSON each, of 134 kB on chain. */
  readonly galleries: readonly string[];
  /** Bodies of almost 4 MB. */
  readonly bodies: readonly string[];
  /** Texts of 20 kB that all have the word `hurtful`, and one of 1 MB. */
  readonly longTexts: readonly string[];
  /** 500 kB of CBOR. */
  readonly metadata: readonly string[];
  /** Brotli that decodes to 100 MB, and pages that take what a browser has. */
  readonly hostile: readonly string[];
  /** Ordinary small inscriptions, for the good client. */
  readonly ordinary: readonly string[];
  /** Pieces of their texts. */
  readonly needles: readonly string[];
  readonly tipHeight: number;
}

export interface ChainSize {
  readonly galleries: number;
  readonly bodies: number;
  readonly longTexts: number;
  readonly ordinary: number;
}

/** As the command uses it: a dozen galleries take 1.6 MB on chain. */
export const wholeChain: ChainSize = { galleries: 12, bodies: 6, longTexts: 400, ordinary: 3000 };
/** For the suite: the same in less, because it is indexed each time. */
export const smallChain: ChainSize = { galleries: 2, bodies: 1, longTexts: 100, ordinary: 500 };

const postageSats = 10_000;
const bodyBytes = 3_900_000;
const longTextBytes = 20_000;
const longestTextBytes = 1_000_000;
const metadataBytes = 500_000;
/** Room for header, coinbase and one transaction besides its envelope. */
const roomWeight = 4000;
const minerScript = openScript(Buffer.alloc(20, 1));

/** A regtest chain of inscriptions that are dear to answer about, made by rules of ord and consensus. */
class HurtfulChain {
  readonly #blocks = new ValidBlocks();
  readonly #spent = new SpentWriter();
  readonly #script = new ByteWriter(1 << 20);
  readonly #folder: BlockFolder;
  #coins: Coin[] = [];

  constructor(dir: string) {
    this.#folder = new BlockFolder(dir);
    this.#folder.add(0, regtestGenesis, this.#spent.finish());
  }

  get height(): number {
    return this.#blocks.height;
  }

  /** Mines until the first coinbase is spendable, and splits it. */
  fund(coins: number): void {
    const first = this.mine();
    while (this.height < coinbaseMaturity) this.mine();
    const value = Math.floor(first.value / (coins + 1));
    this.#spent.add([first]);
    this.#coins = this.#blocks.spend(
      [{ coin: first, witness: [new Uint8Array(1)] }],
      Array.from({ length: coins }, () => ({ value, script: minerScript })),
    );
    this.mine();
  }

  /** Reveals an inscription, in the next block where this one is full. Returns its id. */
  inscribe(envelope: Envelope): string {
    this.#script.clear();
    writeEnvelope(this.#script, envelope);
    if (this.#blocks.weight + this.#script.length + roomWeight > blockWeightMax) this.mine();
    const coin = this.#coins.pop()!;
    this.#spent.add([coin]);
    const [output] = this.#blocks.spend(
      [{ coin, witness: [this.#script.copy(), Buffer.alloc(33, 0xc0)] }],
      [{ value: postageSats, script: minerScript }],
    );
    return `${displayHash(output!.txid)}i0`;
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
}

/** Writes the chain into a folder of blocks, and says what is in it. */
export function makeHurtfulChain(dir: string, size: ChainSize, seed = 'attack'): Targets {
  const random = seededRandom(seed);
  const chain = new HurtfulChain(dir);
  const few = hostilePages.length + 4;
  chain.fund(size.galleries + size.bodies + size.longTexts + size.ordinary + few);
  const texts = new TextSource(seededRandom(`texts ${seed}`), 0);
  const needles: string[] = [];
  const ordinary = repeat(size.ordinary, (index) => {
    const { contentType, body } = texts.fresh();
    if (index % 10 === 0) needles.push(Buffer.from(body).toString().slice(0, 12).replaceAll(',', ' '));
    return chain.inscribe({ fields: [[tag.contentType, contentType]], body });
  });
  const longTexts = repeat(size.longTexts, () =>
    chain.inscribe(contentOf('text/plain;charset=utf-8', longText(random, longTextBytes))),
  );
  longTexts.push(chain.inscribe(contentOf('text/plain;charset=utf-8', longText(random, longestTextBytes))));
  // almost a needle at each of its places
  longTexts.push(chain.inscribe(contentOf('text/plain;charset=utf-8', 'a'.repeat(longestTextBytes))));
  const hostile = hostilePages.map(([, type, body]) => chain.inscribe(contentOf(type, body)));
  hostile.push(chain.inscribe(brotliBomb()));
  const metadata = [chain.inscribe(heavyMetadata())];
  const galleries = repeat(size.galleries, (index) => chain.inscribe(dearGallery(random, `number ${index}`)));
  const bodies = repeat(size.bodies, () => chain.inscribe(contentOf('image/png', noise(random, bodyBytes))));
  chain.finish();
  return { galleries, bodies, longTexts, metadata, hostile, ordinary, needles, tipHeight: chain.height };
}

const repeat = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

function noise(random: Random, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  random.fill(bytes, 0, length);
  return bytes;
}

/** Words of three letters, and `hurtful` in the middle. */
function longText(random: Random, length: number): string {
  const words: string[] = [];
  for (let size = 0; size < length; size += 4)
    words.push((random.below(46_656) + 46_656).toString(36).slice(-3));
  words[words.length >> 1] = 'hurtful';
  return words.join(' ');
}

/** A list of small numbers: one byte of CBOR each, two of JSON. */
function heavyMetadata(): Envelope {
  const list = Buffer.alloc(5 + metadataBytes, 1);
  list.writeUInt8(0x9a, 0);
  list.writeUInt32BE(metadataBytes, 1);
  return {
    fields: [
      [tag.contentType, Buffer.from('text/plain;charset=utf-8')],
      [tag.metadata, list],
    ],
    body: Buffer.from('heavy metadata'),
  };
}
