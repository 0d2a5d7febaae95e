import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { differences, indexQuestions } from '#test/support/chain/golden/ord-golden.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { exactJson } from '#test/support/exact-json.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { faultsForOrdWallet, isRunic, walletQuestions } from '#test/support/http/ord-client.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { sampleStep } from '#test/support/property-runs.ts';

/**
 * Kinds of similar requests that are sampled. For example, a twenty-fourth of the inscriptions is requested. A long run
 * sends all requests.
 */
const sampled: Readonly<Record<string, number>> = {
  inscription: 24,
  'inscription-number': 40,
  'inscriptions-block': 12,
  'r-inscription': 24,
  'r-metadata': 18,
  'r-children': 18,
  'r-children-inscriptions': 6,
  'r-parents': 18,
  'r-parents-inscriptions': 6,
  'r-undelegated-content': 20,
  decode: 24,
  block: 12,
  'r-blockinfo': 12,
  output: 12,
  content: 12,
  'output-empty': 800,
  record: 24,
  rune: 4,
  sat: 40,
};
/** Kinds of requests about blocks. Most blocks of deep-1 are alike. */
const ofBlocks = new Set(['block', 'r-blockinfo', 'inscriptions-block']);

/** The step through the responses to a kind of request. At least two responses are compared. */
const stepOf = (chain: string, question: string, answers: number): number => {
  const usual = chain === 'deep-1' && ofBlocks.has(question) ? 60 : (sampled[question] ?? 1);
  return sampleStep(Math.max(1, Math.min(usual, Math.floor(answers / 2))));
};

/** The fields of `/sat` that are empty in an ord without a sat index. */
const withoutSatIndex = { address: null, inscriptions: [], satpoint: null };

/** A response of `/content` as it was recorded. Its header bytes are latin-1. */
interface RecordedContent {
  readonly status: number;
  readonly contentType?: string;
  readonly contentEncoding?: string | null;
  readonly length?: number;
  readonly sha256?: string;
}

/** ord's `/rune`. */
interface RecordedRune {
  readonly key: string;
  readonly value: {
    readonly id: string;
    readonly entry: { readonly number: number; readonly etching: string; readonly spaced_rune: string };
  };
}

/**
 * Sends requests about every `step`-th item. The number of requests at the same time is the number of the pool's
 * connections.
 */
async function inLanes<T>(items: readonly T[], step: number, ask: (item: T) => Promise<void>): Promise<void> {
  const queue = items.filter((_, place) => place % step === 0).values();
  const lane = async (): Promise<void> => {
    for (const item of queue) await ask(item);
  };
  await Promise.all(Array.from({ length: 10 }, lane));
}

describe.each(goldenChainNames)('ord’s API over the golden chain %s, from its folder', (name) => {
  const golden = new GoldenChain(name);
  const [best, ...stale] = golden.tips();
  const folder = mkdtempSync(join(tmpdir(), 'satscribe-ord-'));
  let database: TestDatabase;
  let blocks: BlockSource;
  let app: App;

  beforeAll(async () => {
    golden.writeFolder(folder);
    database = await createTestDatabase();
    const { readers } = database;
    blocks = await openFolderSource(folder);
    app = buildCheckedApp({
      ...readerParts(readers, networks[golden.chain.network]),
      blocks,
    });
    await app.ready();
  });

  afterAll(async () => {
    await app.close();
    await blocks.close();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  // one app follows all tips, because its memory must not outlive a reorganisation
  describe.each([...stale, best!])('at its tip $name', (tip) => {
    beforeAll(async () => {
      const source = await openFolderSource(folder, { tip: tip.tip });
      const { signal } = new AbortController();
      const { pool } = database;
      await follow({ source, pool, signal, threads: parseThreads(), indexAddresses: true });
      await source.close();
    });

    test.each(indexQuestions.filter((question) => golden.hasAnswers(tip, question)))(
      '%s',
      async (question) => {
        const step = stepOf(name, question, golden.answerLines(tip, question).length);
        const first = question === 'r-inscription' ? step - 1 : 0;
        const { asked, different } = await differences(app, golden, tip, question, { step, first });
        expect(different).toEqual([]);
        expect(asked).toBe(Math.ceil((golden.answerLines(tip, question).length - first) / step));
      },
    );

    test('empty outputs, with an index of addresses and no node', async () => {
      const { asked, different } = await differences(app, golden, tip, 'output-empty', {
        step: stepOf(name, 'output-empty', golden.answerLines(tip, 'output-empty').length),
      });
      expect(different).toEqual([]);
      expect(asked).toBeGreaterThan(0);
    });

    test('sats, without the facts that need a sat index', async () => {
      const recorded = golden.satAnswers<Record<string, unknown>>(tip, 'sat');
      expect(recorded.length).toBeGreaterThan(0);
      await inLanes(recorded, stepOf(name, 'sat', recorded.length), async ({ key, value }) => {
        const answer = await app.inject({ url: `/sat/${key}`, headers: { accept: 'application/json' } });
        // ord fails on sats that it finds at the lost outpoint; without an index it would not look for them
        expect(answer.statusCode).toBe(200);
        if (value === undefined) expect(answer.json()).toMatchObject({ number: Number(key) });
        else expect(answer.json()).toEqual({ ...value, ...withoutSatIndex });
      });
    });

    test.runIf(golden.answerLines(tip, 'output-empty').some(isRunic))('outputs with runes', async () => {
      const only = isRunic;
      const { asked, different } = await differences(app, golden, tip, 'output-empty', { only });
      expect(different).toEqual([]);
      expect(asked).toBeGreaterThan(0);
    });

    const recordedRunes = golden
      .runeAnswers(tip, 'rune.ndjson')
      .map((line) => exactJson(line) as RecordedRune);

    test.runIf(recordedRunes.length > 0)('runes, by each of their names', async () => {
      const lines = golden.runeAnswers(tip, 'rune.ndjson');
      await inLanes(lines, stepOf(name, 'rune', lines.length), async (line) => {
        const { key, value } = exactJson(line) as RecordedRune;
        const { id, entry } = value;
        // compare texts, so that the order of keys and integers of 128 bits are compared too
        const said = `{"key":${JSON.stringify(key)},"value":`;
        expect(line.startsWith(said)).toBe(true);
        const plain = key.replaceAll('•', '');
        for (const name of [key, key.replaceAll('•', '.'), plain, id, String(entry.number)]) {
          const answer = await app.inject(`/rune/${encodeURIComponent(name)}`);
          expect(answer.statusCode).toBe(200);
          expect(`${said}${answer.body}}`).toBe(line);
        }
      });
    });

    test.runIf(recordedRunes.length > 0)('pages of runes', async () => {
      const pages = golden.runeAnswers(tip, 'runes.ndjson');
      expect(pages.length).toBeGreaterThan(0);
      for (const [page, line] of pages.entries()) {
        const answer = await app.inject(`/runes/${page}`);
        expect(`{"key":"${page}","value":${answer.body}}`).toBe(line);
        if (page === 0) expect((await app.inject('/runes')).body).toBe(answer.body);
      }
      const beyond = await app.inject(`/runes/${pages.length + 9}`);
      expect(beyond.json()).toEqual({ entries: [], more: false, next: null, prev: pages.length + 8 });
    });

    test('the status of runes', async () => {
      const [line] = golden.runeAnswers(tip, 'status.ndjson');
      const { value } = exactJson(line ?? '') as { value: Record<string, unknown> };
      const { minimum_rune_for_next_block: minimum, rune_index: isIndexed, runes } = value;
      const status = (await app.inject('/status')).json<Record<string, unknown>>();
      expect(status).toMatchObject({ minimum_rune_for_next_block: minimum, rune_index: isIndexed, runes });
    });

    test('sats of far future blocks, in all notations', async () => {
      const recorded = golden.satAnswers<Record<string, unknown>>(tip, 'sat-unmined');
      expect(recorded.length).toBeGreaterThan(0);
      await inLanes(recorded, 1, async ({ key, value, status, error }) => {
        const url = `/sat/${encodeURIComponent(key)}`;
        const answer = await app.inject({ url, headers: { accept: 'application/json' } });
        if (value === undefined) {
          expect(answer.statusCode).toBe(status);
          expect(answer.json()).toEqual({ status: 'error', error });
          return;
        }
        const { timestamp: _timestamp, ...said } = answer.json<Record<string, unknown>>();
        expect(said).toEqual({ ...value, ...withoutSatIndex });
      });
    });

    // the rest is only compared at the best tip of a chain
    if (tip !== best) return;

    test('the wallet of ord can read all its answers', async () => {
      const questions = walletQuestions(golden, tip);
      expect(questions.outpoints.length).toBeGreaterThan(10);
      expect(await faultsForOrdWallet(app, questions)).toEqual([]);
    });

    test.each([
      ['content', '/content'],
      ['r-undelegated-content', '/r/undelegated-content'],
    ])('every %s is sent as ord sends it', async (question, path) => {
      const recorded = golden.answers<RecordedContent>(tip, question);
      expect(recorded.length).toBeGreaterThan(0);
      await inLanes(recorded, stepOf(name, question, recorded.length), async ({ key, value }) => {
        const ask = (encoding: string) =>
          app.inject({ url: `${path}/${key}`, headers: { 'accept-encoding': encoding } });
        const first = await ask('identity');
        const answer = first.statusCode === 406 ? await ask('br, gzip') : first;
        const { statusCode: status, headers, rawPayload } = answer;
        if (value!.status !== 200) {
          expect({ key, status }).toEqual({ key, status: value!.status });
          return;
        }
        expect({
          key,
          status,
          // blanks around a value are not part of the value, and clients remove them (RFC 9110, 5.5)
          contentType: headers['content-type']?.trim(),
          contentEncoding: headers['content-encoding'] ?? null,
          length: rawPayload.length,
          sha256: createHash('sha256').update(rawPayload).digest('hex'),
        }).toEqual({ key, ...value });
      });
    });

    test('every search record has ord’s values', async () => {
      const recorded = golden.answers<Record<string, string | number | null>>(tip, 'inscription');
      const text = (value: string | number | null | undefined): string | null =>
        value == null ? null : String(value);
      await inLanes(recorded, stepOf(name, 'record', recorded.length), async ({ key, value }) => {
        const answer = await app.inject(`/indexer/inscription?id=${key}`);
        const [record] = answer.json<{ results: Record<string, string | null>[] }>().results;
        expect(record).toMatchObject({
          inscriptionid: key,
          txid: key.slice(0, 64),
          inscriptionnumber: text(value!['number']),
          blockheight: text(value!['height']),
          contenttypestr: text(value!['content_type']),
          contentlength: text(value!['content_length']),
          owner: text(value!['address']),
        });
        const body = record!['content'];
        const hash = body == null ? null : createHash('sha256').update(body, 'hex').digest('hex');
        expect(record!['contenthash']).toBe(hash);
      });
    });
  });
});
