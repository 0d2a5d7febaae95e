import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { NetworkName } from '#kernel/primitives/network.ts';

const folder = join(import.meta.dirname, '../../../fixtures/golden');

/** Names of the golden chains, see test/fixtures/golden/ORIGIN.md. */
export const goldenChainNames: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.br'))
  .map((name) => name.slice(0, -3))
  .sort();

export interface GoldenBlock {
  readonly height: number;
  /** Display order. */
  readonly hash: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly spent: Uint8Array<ArrayBuffer>;
}

interface Header {
  readonly height: number;
  readonly hash: string;
}

interface Counts {
  readonly inscriptions: number;
  readonly blessed_inscriptions: number;
  readonly cursed_inscriptions: number;
  readonly lost_sats: number;
}

interface ChainFile {
  readonly network: NetworkName;
  readonly tip: string;
  readonly headers: readonly Header[];
  readonly counts: Counts;
  readonly staleBranches: readonly {
    readonly tip: string;
    readonly counts: Counts;
    readonly answers: string;
    readonly forkHeight: number;
    readonly headers: readonly Header[];
  }[];
}

/** The chain that ends at one tip, and the folder of ord's answers there. */
export interface GoldenTip {
  readonly name: string;
  /** Display order. */
  readonly tip: string;
  readonly headers: readonly Header[];
  readonly answers: string;
  readonly counts: Counts;
  /** Whether the answers have the sat charms of an ord with a sat index, for which we have no source. */
  readonly hasSatCharms: boolean;
}

/** One line of an answer file. */
export interface Answer<T> {
  readonly key: string;
  readonly value?: T;
  readonly status?: number;
  readonly error?: string;
}

/** The compared fields of ord's `/inscription`. */
export interface OrdInscription {
  readonly id: string;
  readonly number: number;
  readonly height: number;
  readonly fee: number;
  readonly satpoint: string;
  readonly charms: readonly string[];
  readonly parents: readonly string[];
  readonly address: string | null;
  readonly value: number | null;
  readonly content_length: number | null;
  readonly content_type: string | null;
  readonly metaprotocol: string | null;
  readonly timestamp: number;
}

export const charmsOfSats: ReadonlySet<string> = new Set([
  'coin',
  'uncommon',
  'rare',
  'epic',
  'legendary',
  'mythic',
  'nineball',
  'palindrome',
]);

/** Splits the key of a page: `<id>/<page>`. */
function splitKey(key: string): { id: string; page: number } {
  const [id = '', page = '0'] = key.split('/');
  return { id, page: Number(page) };
}

/** A golden chain in memory. */
export class GoldenChain {
  readonly name: string;
  readonly chain: ChainFile;
  readonly #files: ReadonlyMap<string, Uint8Array>;
  readonly #runes: ReadonlyMap<string, Uint8Array>;
  readonly #sats: ReadonlyMap<string, Uint8Array>;

  constructor(name: string) {
    this.name = name;
    this.#files = unpack(join(folder, `${name}.br`));
    // these packs are separate because they were added later
    this.#runes = unpack(join(folder, 'runes', `${name}.br`));
    this.#sats = unpack(join(folder, 'sats', `${name}.br`));
    this.chain = JSON.parse(text(this.#file('chain.json'))) as ChainFile;
  }

  /** The tips of the chain: first the best one, then those of stale branches. */
  tips(): GoldenTip[] {
    const { headers, tip, counts, staleBranches } = this.chain;
    const best = { name: 'best', tip, headers, counts, answers: 'answers', hasSatCharms: false };
    const stale = staleBranches.map((branch, index) => ({
      name: `stale-${index + 1}`,
      tip: branch.tip,
      headers: [...headers.slice(0, branch.forkHeight + 1), ...branch.headers],
      answers: branch.answers,
      counts: branch.counts,
      hasSatCharms: true,
    }));
    return [best, ...stale];
  }

  block(header: Header): GoldenBlock {
    const name = `${String(header.height).padStart(7, '0')}-${header.hash}.bin`;
    // copies, because their buffers may be transferred
    const copyOf = (file: string): Uint8Array<ArrayBuffer> => Uint8Array.from(this.#file(file));
    return { ...header, bytes: copyOf(`blocks/${name}`), spent: copyOf(`spent/${name}`) };
  }

  /**
   * Lines of an answer file. If the answers of an ord without a sat index differ, it returns those. Numbers are read as
   * doubles: the compared numbers are far below 2^53, and larger ones occur only in metadata and traits.
   */
  answers<T>(tip: GoldenTip, question: string): Answer<T>[] {
    return this.answerLines(tip, question).map((line) => JSON.parse(line) as Answer<T>);
  }

  /** Whether there is a file to read. For example, a chain without a gallery has no file of galleries. */
  hasAnswers(tip: GoldenTip, question: string): boolean {
    return this.#answerFile(tip, question) !== undefined;
  }

  #answerFile(tip: GoldenTip, question: string): Uint8Array | undefined {
    const name = `${question}.ndjson`;
    return (
      this.#files.get(`${tip.answers}-no-sat-index/${name}`) ?? this.#files.get(`${tip.answers}/${name}`)
    );
  }

  /** The lines of an answer file as recorded, with one JSON value each. */
  answerLines(tip: GoldenTip, question: string): string[] {
    return linesOf(this.#answerFile(tip, question) ?? this.#file(`${tip.answers}/${question}.ndjson`));
  }

  /**
   * Lines of a file of ord's answers about runes; empty if a chain has no runes. They come from an ord with a sat
   * index, which does not change these answers.
   */
  runeAnswers(tip: GoldenTip, name: string): string[] {
    return linesOf(this.#runes.get(`${tip.answers}/${name}`));
  }

  /**
   * Answers of an ord with a sat index: `sat`, `r-sat`, `sat-unmined`, and `output-ranges` (the sat ranges of outputs).
   */
  satAnswers<T>(tip: GoldenTip, question: string): Answer<T>[] {
    const lines = linesOf(this.#sats.get(`${tip.answers}/${question}.ndjson`));
    return lines.map((line) => JSON.parse(line) as Answer<T>);
  }

  /** ord's `/inscription` of every inscription, by id, with all of its parents instead of the first four. */
  inscriptions(tip: GoldenTip): Map<string, OrdInscription> {
    const parents = new Map<string, string[]>();
    const pages = this.answers<{ ids: string[] }>(tip, 'r-parents')
      .map(({ key, value }) => ({ key: splitKey(key), ids: value?.ids ?? [] }))
      .sort((a, b) => a.key.page - b.key.page);
    for (const { key, ids } of pages) parents.set(key.id, [...(parents.get(key.id) ?? []), ...ids]);
    return new Map(
      this.answers<OrdInscription>(tip, 'inscription').map(({ key, value }) => {
        if (value === undefined) throw new Error(`${this.name} has no answer for ${key}`);
        const charms = value.charms.filter((charm) => !tip.hasSatCharms || !charmsOfSats.has(charm));
        return [key, { ...value, charms, parents: parents.get(key) ?? value.parents }];
      }),
    );
  }

  /** Ids of all inscriptions, by sequence number. */
  order(tip: GoldenTip): string[] {
    return this.answers<{ ids: string[] }>(tip, 'inscriptions-block')
      .map(({ key, value }) => ({ key: splitKey(key), ids: value?.ids ?? [] }))
      .sort((a, b) => Number(a.key.id) - Number(b.key.id) || a.key.page - b.key.page)
      .flatMap(({ ids }) => ids);
  }

  /** Writes the chain as a blocks folder, including stale blocks. */
  writeFolder(target: string): void {
    for (const [name, bytes] of this.#files) {
      if (name.startsWith('answers')) continue;
      mkdirSync(dirname(join(target, name)), { recursive: true });
      writeFileSync(join(target, name), bytes);
    }
  }

  #file(name: string): Uint8Array {
    const bytes = this.#files.get(name);
    if (bytes === undefined) throw new Error(`${this.name} has no ${name}`);
    return bytes;
  }
}

function linesOf(file: Uint8Array | undefined): string[] {
  if (file === undefined) return [];
  return text(file)
    .split('\n')
    .filter((line) => line !== '');
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Packs that were already read. Most tests of a process begin with the same chains. */
const unpacked = new Map<string, ReadonlyMap<string, Uint8Array>>();

function unpack(path: string): ReadonlyMap<string, Uint8Array> {
  const known = unpacked.get(path);
  if (known !== undefined) return known;
  const whole = brotliDecompressSync(readFileSync(path));
  const start = whole.indexOf(0x0a) + 1;
  const directory = JSON.parse(whole.toString('utf8', 0, start)) as [string, number][];
  const files = new Map<string, Uint8Array>();
  let at = start;
  for (const [name, size] of directory) {
    files.set(name, whole.subarray(at, at + size));
    at += size;
  }
  unpacked.set(path, files);
  return files;
}
