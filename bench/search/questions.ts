import { hash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import { seededRandom } from '#test/builders/random.ts';
import { type CountedText, inscriptionsWith, type NeedleClass, type Needles } from './needles.ts';

export const itemsPerPage = 100; // default of the API
export const warmUpShare = 0.1; // share of each class searched first, to warm code and caches
export const checkedPerClass = 10;

export interface Measured {
  readonly timesMs: number[];
  readonly totals: number[];
}

type Question = () => Promise<number>;

/** The texts that are searched, and the needles. */
export interface Corpora {
  readonly texts: readonly CountedText[];
  readonly metadata: readonly Pick<CountedText, 'text' | 'inscriptions'>[];
  readonly needles: Needles;
  readonly metadataNeedles: readonly string[];
  readonly hashes: number;
  readonly seed: string;
}

/** Sends one search after another. Returns their times and their numbers of matches. */
async function ask(questions: readonly Question[]): Promise<Measured> {
  const timesMs: number[] = [];
  const totals: number[] = [];
  const warmUp = Math.floor(questions.length * warmUpShare);
  for (const [index, question] of questions.entries()) {
    const start = performance.now();
    const total = await question();
    if (index < warmUp) continue;
    timesMs.push(performance.now() - start);
    totals.push(total);
  }
  return { timesMs, totals };
}

interface TextQuestion {
  readonly corpus: Corpus;
  readonly needles: readonly string[];
  readonly page: number;
  /** Expected total; `null` if the total is not compared. */
  readonly expected: number | null;
}

function textQuestion(service: SearchService, { corpus, needles, page, expected }: TextQuestion): Question {
  // a single needle may contain commas; several needles are joined with commas
  const phrase = needles.length === 1;
  return async () => {
    const { value } = await service.textSearch({
      corpus,
      text: needles.join(','),
      phrase,
      page,
      itemsPerPage,
    });
    if (expected !== null && value.totalItems !== expected) {
      throw new Error(
        `${JSON.stringify(needles)}: ${value.totalItems} inscriptions, a scan finds ${expected}`,
      );
    }
    if (page > 1 && value.records.length === 0) throw new Error(`page ${page} is empty`);
    return value.totalItems;
  };
}

function contentQuestions(
  service: SearchService,
  { texts, needles }: Corpora,
  name: NeedleClass,
): Question[] {
  return needles[name].map((list, index) => {
    const isDeep = name === 'deepPage';
    const expected = index < checkedPerClass || isDeep ? inscriptionsWith(texts, list) : null;
    const pages = Math.ceil((expected ?? 0) / itemsPerPage);
    // a page in the later half of all pages, including the last
    const page = isDeep ? Math.max(1, pages - ((index * 7919) % Math.ceil(pages / 2 + 1))) : 1;
    return textQuestion(service, { corpus: 'content', needles: list, page, expected });
  });
}

function metadataQuestions(service: SearchService, { metadata, metadataNeedles }: Corpora): Question[] {
  return metadataNeedles.map((needle, index) => {
    const expected = index < checkedPerClass ? inscriptionsWith(metadata, [needle]) : null;
    return textQuestion(service, { corpus: 'metadata', needles: [needle], page: 1, expected });
  });
}

function hashQuestions(service: SearchService, { texts, hashes, seed }: Corpora): Question[] {
  const random = seededRandom(`hashes ${seed}`);
  const chosen = new Set<Uint8Array>();
  while (chosen.size < Math.min(hashes / 2, texts.length))
    chosen.add((texts[random.below(texts.length)] as CountedText).body);
  return [...chosen].flatMap((body) => {
    const unknown = Buffer.alloc(32);
    random.fill(unknown, 0, 32);
    return [hash('sha256', body, 'buffer'), unknown].map((wanted) => async () => {
      const { value } = await service.hashSearch({ hash: wanted, page: 1, itemsPerPage });
      if (value.totalItems > 0 !== (wanted !== unknown)) throw new Error('a hash gives a wrong answer');
      return value.totalItems;
    });
  });
}

/** Measures all classes, with one search after another. Throws if a result is wrong. */
export async function askAll(service: SearchService, corpora: Corpora): Promise<Map<string, Measured>> {
  const measured = new Map<string, Measured>();
  for (const name of Object.keys(corpora.needles) as NeedleClass[]) {
    measured.set(name, await ask(contentQuestions(service, corpora, name)));
  }
  measured.set('metadata', await ask(metadataQuestions(service, corpora)));
  measured.set('hash', await ask(hashQuestions(service, corpora)));
  return measured;
}
