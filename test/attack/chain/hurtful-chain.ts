import { pieceBytes } from '#http/server/budgets/content-reads.ts';
import { type Envelope, tag } from '#test/builders/envelope.ts';
import { png } from '#test/builders/images.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { TextSource } from '#test/builders/texts.ts';
import { dearGallery } from './galleries.ts';
import { type Hoard, type HoardSize, makeHoard } from './hoard.ts';
import { brotliBomb, contentOf, hostilePages } from './hostile-contents.ts';
import { MinedChain } from './mined-chain.ts';
import { makeRunes, type RuneRows, type RunesSize } from './rune-rows.ts';
import { makeSoldItems, type SoldItems } from './sold-items.ts';

/** Ids of inscriptions that the attacker and the good client request, by the harm that they do. */
export interface Targets {
  /** Galleries with 14 MB of JSON each, made from 134 kB on chain. */
  readonly galleries: readonly string[];
  /** Bodies of almost 4 MB. */
  readonly bodies: readonly string[];
  /** Bodies with one byte less than the service reads at once, so that no body counts as long. */
  readonly pieces: readonly string[];
  /** Images of 49 million pixels each, in about 50 kB. All images are different. */
  readonly pictures: readonly string[];
  /** Texts of 20 kB that all contain the word `hurtful`, and two texts of 1 MB. */
  readonly longTexts: readonly string[];
  /** Metadata of 500 kB of CBOR. */
  readonly metadata: readonly string[];
  /** A content in brotli that decodes to 100 MB, and pages that use up the resources of a browser. */
  readonly hostile: readonly string[];
  /** Ordinary small inscriptions, for the good client. */
  readonly ordinary: readonly string[];
  /** Pieces of the texts of `ordinary`. */
  readonly needles: readonly string[];
  readonly hoard: Hoard;
  readonly runes: RuneRows;
  readonly sold: SoldItems;
  readonly tipHeight: number;
}

export interface ChainSize {
  readonly galleries: number;
  readonly bodies: number;
  readonly pieces: number;
  readonly pictures: number;
  readonly longTexts: number;
  readonly ordinary: number;
  readonly hoard: HoardSize;
  readonly runes: RunesSize;
  /** Number of items of collections. `sales` is the number of their sales (service/market-rows.ts). */
  readonly soldItems: number;
  readonly sales: number;
}

/**
 * Size of the chain for `npm run attack`. A dozen galleries have 1.6 MB on chain. The rows of runes and outputs have 30
 * MB.
 */
export const wholeChain: ChainSize = {
  galleries: 12,
  bodies: 6,
  pieces: 24,
  pictures: 40,
  longTexts: 400,
  ordinary: 3000,
  // with the inscriptions, the address has almost 100,000 outputs, which is the maximum of one answer
  hoard: { outputs: 95_000 },
  runes: { etched: 2000, holders: 50_000, mints: 20_000 },
  soldItems: 40_000,
  sales: 200_000,
};
/** Size of the chain for the test suite. It is smaller, because each run indexes it. */
export const smallChain: ChainSize = {
  galleries: 2,
  bodies: 1,
  pieces: 2,
  pictures: 2,
  longTexts: 100,
  ordinary: 500,
  hoard: { outputs: 500 },
  runes: { etched: 60, holders: 200, mints: 100 },
  soldItems: 200,
  sales: 1000,
};

const bodyBytes = 3_900_000;
const longTextBytes = 20_000;
const longestTextBytes = 1_000_000;
const metadataBytes = 500_000;

/** Writes the chain into a folder of blocks. Returns the ids of its inscriptions, by their harm. */
export function makeHurtfulChain(dir: string, size: ChainSize, seed = 'attack'): Targets {
  const random = seededRandom(seed);
  const chain = new MinedChain(dir);
  const few = hostilePages.length + 4;
  chain.fund(
    size.galleries + size.bodies + size.pieces + size.pictures + size.longTexts + size.ordinary + few,
  );
  // do this first, so that the holders can come from many heights
  const sold = makeSoldItems(chain, size.soldItems);
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
  // each position of this text is almost a match of a needle
  longTexts.push(chain.inscribe(contentOf('text/plain;charset=utf-8', 'a'.repeat(longestTextBytes))));
  const hostile = hostilePages.map(([, type, body]) => chain.inscribe(contentOf(type, body)));
  hostile.push(chain.inscribe(brotliBomb()));
  const metadata = [chain.inscribe(heavyMetadata())];
  const galleries = repeat(size.galleries, (index) => chain.inscribe(dearGallery(random, `number ${index}`)));
  const bodies = repeat(size.bodies, () => chain.inscribe(contentOf('image/png', noise(random, bodyBytes))));
  const pieces = repeat(size.pieces, () =>
    chain.inscribe(contentOf('image/png', noise(random, pieceBytes - 1))),
  );
  const pictures = repeat(size.pictures, (index) =>
    chain.inscribe(contentOf('image/png', hugePicture(index))),
  );
  const hoard = makeHoard(chain, size.hoard);
  const runes = makeRunes(chain, size.runes);
  chain.finish();
  return {
    galleries,
    bodies,
    pieces,
    pictures,
    longTexts,
    metadata,
    hostile,
    ordinary,
    needles,
    hoard,
    runes,
    sold,
    tipHeight: chain.height,
  };
}

const repeat = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A large picture that a decoder must decode completely. */
function hugePicture(index: number): Uint8Array {
  const edge = 7_000 - index;
  return png(edge, edge, { rows: edge });
}

function noise(random: Random, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  random.fill(bytes, 0, length);
  return bytes;
}

/** A text of words with three letters, and of `hurtful` in the middle. */
function longText(random: Random, length: number): string {
  const words: string[] = [];
  for (let size = 0; size < length; size += 4)
    words.push((random.below(46_656) + 46_656).toString(36).slice(-3));
  words[words.length >> 1] = 'hurtful';
  return words.join(' ');
}

/** A list of small numbers. Each number has one byte in CBOR, and two bytes in JSON. */
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
