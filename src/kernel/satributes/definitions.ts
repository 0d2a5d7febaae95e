import { asTxidHex } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { provenance } from './provenance.ts';
import type { Satribute } from './satribute.ts';

/*
 * The definitions of satributes, as data. A changed rule is a new version, and results name the version, so that
 * results can be compared. For several satributes, vendors have different definitions. The origin says whose definition
 * is used.
 */

const byOrd = 'ord, crates/ordinals/src/rarity.rs';
const coinSats = 100_000_000;

const byNumber = 'complete: it follows from the number of a sat';
const byHeight = 'complete: it follows from the height of a block';
/** Completeness of a rule that only a vendor publishes. */
const ofVendor = 'complete by this rule; the vendor has not published whether it has other rules';
const uncheckedList =
  'unknown: the list names neither transactions nor a method, so no one can check on a chain whether its ranges are right and complete';

/** Heights of coinbases that are believed to be Satoshi Nakamoto's, because their rewards were moved or signed for. */
const nakamotoHeights = [
  9, 286, 688, 877, 1760, 2459, 2485, 3479, 5326, 9443, 9925, 10645, 14450, 15625, 15817, 19093, 23014, 28593,
  29097,
];

/**
 * Heights of blocks whose miner paid with their rewards. The payment was 500 bitcoins, which are ten complete
 * subsidies.
 */
const jpegHeights = [30340, 30367, 30412, 30441, 30779, 30907, 31511, 32343, 32412, 32952];

const noList = (words: string) => ({ kind: 'unknown', why: words }) as const;
const ofBlock = (height: number, about: string, scanner?: string): Satribute => ({
  id: `block${height}`,
  version: 1,
  title: `Block ${height}`,
  about,
  origin: 'Sating.io: the whole subsidy of the block',
  completeness: byHeight,
  networks: 'all',
  ...(scanner === undefined ? {} : { scanner }),
  rule: { kind: 'blocks', heights: [[height, height]] },
});

/**
 * The definitions of this version. SatributeBook has the definitions that are currently used, with the operator's rules
 * and the results of the chain.
 */
export const builtInSatributes: readonly Satribute[] = [
  {
    id: 'uncommon',
    version: 1,
    title: 'Uncommon',
    about: 'The first sat of a block that begins neither a difficulty period nor an epoch.',
    origin: byOrd,
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'firsts', rarity: 'uncommon' },
  },
  {
    id: 'rare',
    version: 1,
    title: 'Rare',
    about: 'The first sat of a difficulty period, every 2,016 blocks.',
    origin: byOrd,
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'firsts', rarity: 'rare' },
  },
  {
    id: 'epic',
    version: 1,
    title: 'Epic',
    about: 'The first sat after a halving, every 210,000 blocks.',
    origin: byOrd,
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'firsts', rarity: 'epic' },
  },
  {
    id: 'legendary',
    version: 1,
    title: 'Legendary',
    about: 'The first sat of a cycle: a halving and an adjustment of the difficulty in one block.',
    origin: byOrd,
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'firsts', rarity: 'legendary' },
  },
  {
    id: 'mythic',
    version: 1,
    title: 'Mythic',
    about: 'The first sat of all.',
    origin: byOrd,
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'firsts', rarity: 'mythic' },
  },
  ofBlock(
    9,
    'The oldest sats that ever moved: Satoshi Nakamoto paid Hal Finney with some of them.',
    'block-9',
  ),
  ofBlock(
    78,
    'The first block known to be mined by someone other than Satoshi Nakamoto, namely by Hal Finney.',
    'block-78',
  ),
  ofBlock(666, 'The subsidy of block 666.', 'block-666'),
  ofBlock(999, 'The subsidy of block 999, the last vintage one.', 'block-999'),
  {
    id: 'vintage',
    version: 1,
    title: 'Vintage',
    about: 'The sats of the first 1,000 blocks.',
    origin: 'Sating.io: blocks 0 to 999',
    completeness: byHeight,
    networks: 'all',
    rule: { kind: 'blocks', heights: [[0, 999]] },
  },
  {
    id: 'number-palindrome',
    version: 1,
    title: 'Palindrome',
    about: 'The number reads the same forwards and backwards, however long it is.',
    origin: 'ord, crates/ordinals/src/sat.rs, the charm palindrome',
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'palindromes' },
  },
  {
    id: 'pizza',
    // version 1 had no sats, because there was no list of ranges that a chain can check
    version: 2,
    title: 'Pizza',
    about: 'The sats of the 10,000 bitcoins that paid two pizzas on 22 May 2010.',
    origin:
      'the payment itself, in block 57043; dannybabbev/exotic-indexer (exotic/pizza.go) quotes an answer of ord for this output, with 1,152 ranges',
    completeness:
      'complete by this rule: all sats of the paid output, first in, first out; not compared with the lists of vendors',
    networks: 'mainnet',
    rule: provenance([
      {
        txid: asTxidHex('a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d'),
        vout: 0,
        height: asHeight(57_043),
      },
    ]),
  },
  {
    id: 'first-transaction',
    version: 1,
    title: 'First transaction',
    about: 'The 10 bitcoins that Satoshi Nakamoto sent to Hal Finney in block 170.',
    origin: 'Sating.io; the same in cideight/ordinals-satribute-check, check_utxo_satributes.py',
    completeness:
      'complete: first in, first out, the first output of that transaction takes the first 10 of 50 bitcoins of block 9',
    networks: 'mainnet',
    rule: { kind: 'ranges', ranges: [{ start: 45_000_000_000, end: 46_000_000_000 }] },
  },
  {
    id: 'nakamoto',
    version: 1,
    title: 'Nakamoto',
    about: 'The subsidies of 19 blocks that Satoshi Nakamoto is believed to have mined.',
    origin:
      'Sating.io: a list of blocks; the same in cideight/ordinals-satribute-check, check_utxo_satributes.py',
    completeness:
      'unknown: no reason is published for each block, and the list lacks other blocks that he mined',
    networks: 'mainnet',
    rule: { kind: 'blocks', heights: nakamotoHeights.map((height) => [height, height] as const) },
  },
  {
    id: 'black',
    version: 1,
    title: 'Black',
    about: 'The last sat of a block, just before the first sat of the next block.',
    origin: 'Sating.io',
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'lasts', before: ['uncommon', 'rare', 'epic', 'legendary'] },
  },
  {
    id: 'black-uncommon',
    version: 1,
    title: 'Black uncommon',
    about: 'The last sat before an uncommon one.',
    origin: 'Xverse: black forms of each rarity',
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'lasts', before: ['uncommon'] },
  },
  {
    id: 'black-rare',
    version: 1,
    title: 'Black rare',
    about: 'The sat before a rare one: the last of a difficulty period.',
    origin: 'Xverse: black forms of each rarity',
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'lasts', before: ['rare'] },
  },
  {
    id: 'black-epic',
    version: 1,
    title: 'Black epic',
    about: 'The sat before an epic one: the last before a halving.',
    origin: 'Xverse: black forms of each rarity',
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'lasts', before: ['epic'] },
  },
  {
    id: 'black-legendary',
    version: 1,
    title: 'Black legendary',
    about: 'The sat before a legendary one: the last of a cycle.',
    origin: 'Xverse: black forms of each rarity',
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'lasts', before: ['legendary'] },
  },
  ofBlock(286, 'The subsidy of block 286, one of the blocks in the nakamoto list.'),
  {
    id: 'block9_450x',
    version: 1,
    title: 'Block 9 450x',
    about: 'The first bitcoin of block 9. Its numbers begin with 450.',
    origin: 'Deezy sat-hunter, satributes.js; other vendors take more of block 9',
    completeness: ofVendor,
    networks: 'all',
    inventory: 'block9450x',
    rule: { kind: 'ranges', ranges: [{ start: 45_000_000_000, end: 45_100_000_000 }] },
  },
  {
    id: 'coin',
    version: 1,
    title: 'Coin',
    about: 'The first sat of a whole bitcoin. Its number ends in eight zeros.',
    origin: 'ord, crates/ordinals/src/sat.rs, the charm coin',
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'every', step: coinSats, remainder: 0 },
  },
  {
    id: 'alpha',
    version: 1,
    title: 'Alpha',
    about: 'The first sat of a whole bitcoin, as collectors call a coin.',
    origin: 'Sating.io',
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'every', step: coinSats, remainder: 0 },
  },
  {
    id: 'omega',
    version: 1,
    title: 'Omega',
    about: 'The last sat of a whole bitcoin. Its number ends in eight nines.',
    origin: 'Sating.io',
    completeness: byNumber,
    networks: 'all',
    rule: { kind: 'every', step: coinSats, remainder: coinSats - 1 },
  },
  {
    id: 'hitman',
    version: 1,
    title: 'Hitman',
    about: 'Sats that are said to come from a payment for a murder that never happened.',
    origin:
      'Sating.io, "hitman sats" of its documentation, with 6,200 ranges, repeated in dannybabbev/exotic-indexer (exotic/hitman.go)',
    completeness: uncheckedList,
    networks: 'mainnet',
    rule: noList('the published list of ranges is not part of this version'),
  },
  {
    id: 'jpeg',
    // version 1 had no sats, because the list was not known
    version: 2,
    title: 'JPEG',
    about:
      'The sats of 500 bitcoins that were paid on 24 February 2010 to someone who had offered a picture for them.',
    origin:
      'Sating.io, "jpeg sats" of its documentation, repeated in dannybabbev/exotic-indexer (exotic/jpeg.go): the ten subsidies that transaction 298a46fdf18f2096f822577b9661232d4cefba084925eb746939723647f8d18d spent',
    completeness:
      'complete for that payment: ten subsidies are 500 bitcoins; whether it was for the picture is disputed',
    networks: 'mainnet',
    rule: { kind: 'blocks', heights: jpegHeights.map((height) => [height, height] as const) },
  },
  {
    id: 'silkroad',
    version: 1,
    title: 'Silk Road',
    about: 'Sats that are said to come from the seized coins of the Silk Road.',
    origin: 'vendors, who publish no list',
    completeness: 'unknown: there is nothing to check',
    networks: 'mainnet',
    rule: noList('no list of its sats or of their transactions is published'),
  },
  {
    id: 'legacy',
    version: 1,
    title: 'Legacy',
    about: 'A type of sat that one vendor names without a published definition.',
    origin: 'vendors, who publish no list',
    completeness: 'unknown: there is nothing to check',
    networks: 'mainnet',
    rule: noList('no definition is published'),
  },
];

const bySpelling: ReadonlyMap<string, Satribute> = new Map(
  builtInSatributes.flatMap((satribute) => {
    const { id, inventory = id, scanner = id } = satribute;
    return [id, inventory, scanner].map((spelling) => [spelling, satribute] as const);
  }),
);

/** Every name that `satributeId` knows. */
export const satributeSpellings: readonly string[] = [...bySpelling.keys()];

/** The id of a satribute from its id, or from its spelling in a public interface. `null` if it is unknown. */
export function satributeId(spelling: string): string | null {
  return bySpelling.get(spelling)?.id ?? null;
}

/** The public scanner's name of a satribute. */
export function scannerSpelling(id: string): string {
  return bySpelling.get(id)?.scanner ?? id;
}
