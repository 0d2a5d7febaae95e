import { type ChainOptions, chainMetadata, chainTexts } from '#test/builders/inscription-chain.ts';
import { seededRandom } from '#test/builders/random.ts';

/**
 * A distinct text as searches see it, and how many inscriptions have it. Folding these texts only lowers their case,
 * because they are generated.
 */
export interface CountedText {
  readonly text: string;
  readonly body: Uint8Array;
  inscriptions: number;
}

/** All texts of a generated chain, with their numbers of inscriptions. */
export function countedTexts(options: ChainOptions): CountedText[] {
  const source = chainTexts(options);
  const counted = new Map<unknown, CountedText>();
  const count = (text: ReturnType<typeof source.next>): void => {
    const known = counted.get(text);
    if (known !== undefined) known.inscriptions++;
    else
      counted.set(text, {
        text: Buffer.from(text.body).toString().toLowerCase(),
        body: text.body,
        inscriptions: 1,
      });
  };
  for (let left = options.inscriptions; left > 0; left--) count(source.next());
  for (let left = options.tipBlocks * options.revealsPerTipBlock; left > 0; left--) count(source.fresh());
  return [...counted.values()];
}

/** All metadata texts of a generated chain, in lower case, as canonical JSON. */
export function countedMetadata(options: ChainOptions): Pick<CountedText, 'text' | 'inscriptions'>[] {
  const source = chainMetadata(options);
  const counts = new Map<string, number>();
  for (let left = options.inscriptions; left > 0; left--) {
    const metadata = source?.next() ?? null;
    if (metadata === null) continue;
    const text = metadata.json.toLowerCase();
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, inscriptions]) => ({ text, inscriptions }));
}

/**
 * Needles for metadata, with 4 to 12 characters. They are parts of names, of traits, and of keys with the text around
 * them.
 */
export function metadataNeedles(
  texts: readonly Pick<CountedText, 'text'>[],
  seed: string,
  count: number,
): string[] {
  const random = seededRandom(`metadata needles ${seed}`);
  const needles = new Set<string>();
  for (let tries = 0; texts.length > 0 && needles.size < count && tries < count * 50; tries++) {
    const { text } = texts[random.below(texts.length)] as CountedText;
    const length = 4 + random.below(9);
    needles.add(text.slice(random.below(Math.max(1, text.length - length + 1))).slice(0, length));
  }
  return [...needles];
}

/** The expected count of a search, computed naively. */
export function inscriptionsWith(
  texts: readonly Pick<CountedText, 'text' | 'inscriptions'>[],
  needles: readonly string[],
): number {
  let total = 0;
  for (const { text, inscriptions } of texts) {
    if (needles.every((needle) => text.includes(needle))) total += inscriptions;
  }
  return total;
}

const trigramShareMin = 0.002; // a trigram that at least one distinct text in 500 has is common
const rareHitsMax = 20;
/** Number of needles drawn for each rare one. Some of them turn out to be in many texts. */
const rareDrawn = 2;
/** Number of texts in the sample for shares. A trigram that is just common is in a hundred of them. */
const sampleTexts = 50_000;

function trigrams(text: string): string[] {
  return Array.from({ length: Math.max(0, text.length - 2) }, (_, at) => text.slice(at, at + 3));
}

/**
 * Counts for each trigram in how many texts of a sample it is. An index of all trigrams in millions of texts would not
 * fit into memory.
 */
class TrigramShares {
  readonly #counts = new Map<string, number>();
  readonly #leastCount: number;

  constructor(texts: readonly CountedText[]) {
    const every = Math.max(1, Math.floor(texts.length / sampleTexts));
    let sampled = 0;
    for (let at = 0; at < texts.length; at += every) {
      sampled++;
      for (const key of new Set(trigrams((texts[at] as CountedText).text))) {
        this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      }
    }
    this.#leastCount = sampled * trigramShareMin;
  }

  isCommon(key: string): boolean {
    return (this.#counts.get(key) ?? 0) >= this.#leastCount;
  }

  rarest(needle: string): string {
    return trigrams(needle).reduce((a, b) =>
      (this.#counts.get(a) ?? 0) <= (this.#counts.get(b) ?? 0) ? a : b,
    );
  }
}

/** The needles that are in only few texts, found in one pass over all texts. */
function inFewTexts(
  texts: readonly CountedText[],
  needles: readonly string[],
  shares: TrigramShares,
): string[] {
  const byTrigram = Map.groupBy(needles, (needle) => shares.rarest(needle));
  const hits = new Map(needles.map((needle) => [needle, 0]));
  for (const { text } of texts) {
    for (const key of new Set(trigrams(text))) {
      for (const needle of byTrigram.get(key) ?? []) {
        if (text.includes(needle)) hits.set(needle, (hits.get(needle) ?? 0) + 1);
      }
    }
  }
  return needles.filter((needle) => (hits.get(needle) ?? 0) <= rareHitsMax);
}

export type NeedleClass = 'rare' | 'common' | 'and' | 'punctuation' | 'short' | 'deepPage';
/** Needles for searches, by class. Each entry is one search: all of its needles must occur. */
export type Needles = Record<NeedleClass, string[][]>;

/** All substrings of `text` that contain one of `cores`. */
function around(text: string, cores: readonly string[]): string[] {
  return cores.flatMap((core) => {
    const at = text.indexOf(core);
    const found: string[] = [];
    for (let from = at; from >= 0; from--) {
      for (let to = at + core.length; to <= text.length; to++) found.push(text.slice(from, to));
    }
    return found;
  });
}

const isPunctuation = /^[^\p{L}\p{N}\s]$/u;

/** Makes needles of every class without duplicates: `perClass` of each, if there are enough. */
export function makeNeedles(
  texts: readonly CountedText[],
  seed: string,
  rareCount: number,
  perClass: number,
): Needles {
  const random = seededRandom(`needles ${seed}`);
  const used = new Set<string>();
  const isNew = (needles: readonly string[]): boolean => {
    const key = needles.join('\0');
    if (used.has(key)) return false;
    used.add(key);
    return true;
  };
  // every JSON text contains this needle, whatever the sample
  const quotes = ['":"'];
  isNew(quotes);
  const anyText = (): string => (texts[random.below(texts.length)] as CountedText).text;
  const piece = (least: number, most: number): string => {
    const text = anyText();
    const length = least + random.below(most - least + 1);
    const from = random.below(Math.max(1, text.length - length + 1));
    return text
      .slice(from, from + length)
      .replaceAll(/[\uD800-\uDFFF]/gu, '')
      .trim();
  };
  const collect = (count: number, draw: () => string[] | null): string[][] => {
    const found: string[][] = [];
    for (let tries = 0; found.length < count && tries < count * 5000; tries++) {
      const needles = draw();
      if (needles !== null && isNew(needles)) found.push(needles);
    }
    return found;
  };
  const shuffled = (values: readonly string[]): string[][] => {
    const left = [...new Set(values)];
    return collect(perClass, () => {
      const [value] = left.splice(random.below(left.length), 1);
      return value === undefined ? null : [value];
    });
  };
  const shares = new TrigramShares(texts);
  const head = '{"p":"brc-20","op":"';
  // Joins parts of two texts. All trigrams of such a needle are common, but few texts or none contain the complete
  // needle.
  const drawn = collect(Math.ceil(rareCount * rareDrawn), () => {
    const joined = random.unit() < 0.5 ? piece(7, 14) : piece(4, 8) + piece(4, 8);
    if (joined.length < 6 || joined.includes(',')) return null;
    return trigrams(joined).every((key) => shares.isCommon(key)) ? [joined] : null;
  }).flat();
  return {
    rare: inFewTexts(texts, drawn, shares)
      .slice(0, rareCount)
      .map((needle) => [needle]),
    common: shuffled(around(head, ['rc-2', '{"p":"', ',"op":"'])),
    and: collect(perClass, () => {
      const needles = [piece(3, 8), piece(3, 8), ...(random.unit() < 0.5 ? ['brc-20'] : [])];
      return needles.every((needle) => needle.length >= 3 && !needle.includes(',')) ? needles : null;
    }),
    punctuation: [
      quotes,
      ...collect(perClass - 1, () => {
        const found = piece(2, 5);
        const marks = Array.from(found).filter((letter) => isPunctuation.test(letter)).length;
        return found.length >= 2 && marks / found.length >= 0.6 ? [found] : null;
      }),
    ],
    short: collect(perClass, () => {
      const found = piece(1, 2);
      return found.length > 0 && found !== ',' ? [found] : null;
    }),
    deepPage: shuffled(around(`${head}transfer","tick":"`, ['"tick":"', ',"tic'])),
  };
}
