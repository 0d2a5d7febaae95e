import { type ChainOptions, chainTexts } from '../generate/inscription-chain.ts';
import { seededRandom } from '../generate/random.ts';

/** A distinct text as searches see it (the generated texts fold to their lower case), and its number of inscriptions. */
export interface CountedText {
  readonly text: string;
  readonly body: Uint8Array;
  inscriptions: number;
}

/** All texts of a generated chain. */
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

/** What a search must count: the naive way. */
export function inscriptionsWith(texts: readonly CountedText[], needles: readonly string[]): number {
  let total = 0;
  for (const { text, inscriptions } of texts) {
    if (needles.every((needle) => text.includes(needle))) total += inscriptions;
  }
  return total;
}

const trigramShareMin = 0.002; // a trigram is common when one distinct text in 500 has it
const rareHitsMax = 20;

function trigrams(text: string): string[] {
  return Array.from({ length: Math.max(0, text.length - 2) }, (_, at) => text.slice(at, at + 3));
}

/** Which texts have a trigram: finds the few that can hold a needle without a scan. */
class TrigramIndex {
  private readonly texts: readonly CountedText[];
  private readonly holders = new Map<string, CountedText[]>();

  constructor(texts: readonly CountedText[]) {
    this.texts = texts;
    for (const text of texts) {
      for (const key of new Set(trigrams(text.text))) {
        const list = this.holders.get(key);
        if (list === undefined) this.holders.set(key, [text]);
        else list.push(text);
      }
    }
  }

  /** Texts that have the rarest trigram of a needle of three letters or more. */
  candidates(needle: string): readonly CountedText[] {
    const lists = trigrams(needle).map((key) => this.holders.get(key) ?? []);
    return lists.reduce((a, b) => (a.length <= b.length ? a : b));
  }

  isCommon(key: string): boolean {
    return (this.holders.get(key)?.length ?? 0) >= this.texts.length * trigramShareMin;
  }
}

export type NeedleClass = 'rare' | 'common' | 'and' | 'punctuation' | 'short' | 'deepPage';
/** Each entry is one search: its needles, all of which must occur. */
export type Needles = Record<NeedleClass, string[][]>;

/** All substrings of `text` around each of `cores`. */
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

/** Needles of every class, `perClass` of each where there are so many, none twice among all of them. */
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
  const index = new TrigramIndex(texts);
  const head = '{"p":"brc-20","op":"';
  return {
    // two pieces of different texts, joined: every trigram is common, the whole is in few texts or in none
    rare: collect(rareCount, () => {
      const joined = random.unit() < 0.5 ? piece(7, 14) : piece(4, 8) + piece(4, 8);
      if (joined.length < 6 || joined.includes(',')) return null;
      if (!trigrams(joined).every((key) => index.isCommon(key))) return null;
      const hits = index.candidates(joined).filter(({ text }) => text.includes(joined)).length;
      return hits > rareHitsMax ? null : [joined];
    }),
    common: shuffled(around(head, ['rc-2', '{"p":"', ',"op":"'])),
    and: collect(perClass, () => {
      const needles = [piece(3, 8), piece(3, 8), ...(random.unit() < 0.5 ? ['brc-20'] : [])];
      return needles.every((needle) => needle.length >= 3 && !needle.includes(',')) ? needles : null;
    }),
    punctuation: [
      ['":"'],
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
