import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { networks } from '#kernel/primitives/network.ts';
import type { Random } from '#test/builders/random.ts';
import type { WatchedInscription } from '#watches/matching/watched-inscription.ts';
import { readWatchCondition } from '#watches/reading/read-watch.ts';
import type { SearchCondition } from '#watches/reading/watch-condition.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz';
/** Numbers of tickers and words. Every ticker of a search occurs in some block, and most words do not. */
const tickers = 3_000;
const words = 50_000;

/** A name of a number, which looks random. */
function nameOf(kind: string, nth: number, length: number): string {
  const digest = createHash('sha256').update(`${kind} ${nth}`).digest();
  return Array.from({ length }, (_, at) => letters[(digest[at] ?? 0) % letters.length]).join('');
}

const wordOf = (random: Random): string => {
  const nth = random.below(words);
  return nameOf('word', nth, 3 + (nth % 9));
};
const tickerOf = (random: Random): string => nameOf('ticker', random.below(tickers), 4);

/**
 * The body of a saved search like those of people: tickers, words, phrases, hashes, parents and members of metadata.
 */
export function bodyOf(random: Random, nth: number): Record<string, unknown> {
  switch (nth % 10) {
    case 0:
      return {
        hash: createHash('sha256')
          .update(`file ${random.below(100_000)}`)
          .digest('hex'),
      };
    case 1:
      return { parent: `${Buffer.from(bytesOf(random, 32)).toString('hex')}i0` };
    case 2:
      return { key: 'name', value: wordOf(random) };
    case 3:
      return { text: `${wordOf(random)} ${wordOf(random)}`, words: true };
    case 4:
    case 5:
      return { text: `"op":"mint","tick":"${tickerOf(random)}"` };
    case 6:
      return { text: `"tick":"${tickerOf(random)}"`, contentType: 'text/plain' };
    default:
      return { text: `${wordOf(random)} ${wordOf(random)}` };
  }
}

/** The condition of a body. */
export function searchOf(body: Record<string, unknown>): SearchCondition {
  const read = readWatchCondition('search', body, networks.regtest);
  assert(read.kind !== 'faulty' && 'search' in read.condition, 'a saved search is read');
  return read.condition.search;
}

const bytesOf = (random: Random, length: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  random.fill(bytes, 0, length);
  return bytes;
};

const none = {
  metaprotocol: null,
  title: null,
  traits: null,
  gallery: null,
  parents: null,
  cursed: false,
} as const;

/** A reveal: mostly a mint of tokens, sometimes a page of words, an image or a text with metadata. */
export function revealOf(random: Random, nth: number): WatchedInscription {
  const kind = nth % 20;
  const body =
    kind < 15
      ? `{"p":"brc-20","op":"mint","tick":"${tickerOf(random)}","amt":"${random.below(1_000_000)}"}`
      : Array.from({ length: kind === 19 ? 1_000 : 60 }, () => wordOf(random)).join(' ');
  const text = Buffer.from(body);
  const metadata =
    kind === 18 ? Buffer.from(`{"name":"${wordOf(random)}","size":${random.below(100)}}`) : null;
  return {
    ...none,
    text: kind === 17 ? null : text,
    metadata,
    metadataJson: metadata,
    hashes: [createHash('sha256').update(text).digest('hex')],
    contentType: Buffer.from(
      kind < 15 ? 'text/plain;charset=utf-8' : kind === 17 ? 'image/png' : 'text/plain',
    ),
    parents: kind === 16 ? Buffer.from(bytesOf(random, 36)) : null,
  };
}
