import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openRunestoneCandidates, readRunestoneCandidates } from '#indexer/facts/runestone-candidates.ts';
import { runeMessages } from '#indexer/ledger/runes/rune-block.ts';
import { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { knownCompactSize } from '#indexer/transaction/compact-size.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { transactionId } from '#indexer/transaction/transaction-id.ts';
import { linesOf, vectorsFolder } from '#test/unit/indexer/parse/fixtures.ts';
import { read } from './runestone-reader.ts';

/** A line of mainnet-runestones.ndjson.br (test/fixtures/runes/ORIGIN.md). */
interface Line {
  readonly height: number;
  readonly tx: number;
  readonly outputs: number;
  readonly script: string;
}

const fixture = join(import.meta.dirname, '../../../../fixtures/runes/mainnet-runestones.ndjson.br');
const vectors = vectorsFolder();

describe.skipIf(vectors === null)('runestones of whole blocks of VECTORS_DIR', () => {
  const lines = linesOf(brotliDecompressSync(readFileSync(fixture)).toString()).map(
    (line) => JSON.parse(line) as Line,
  );
  const heights = [...new Set(lines.map(({ height }) => height))];
  const folder = join(vectors ?? '', 'blocks/mainnet');
  const files = vectors === null ? [] : readdirSync(folder);

  test.each(heights)('block %i has those of the three programs, and no other', (height) => {
    const file = files.find((name) => Number(name.slice(0, 7)) === height);
    const bytes = Uint8Array.from(readFileSync(join(folder, file ?? '')));
    const layout = new BlockLayout();
    expect(readLayout(bytes, layout)).toBeNull();
    const candidates = openRunestoneCandidates(readRunestoneCandidates(bytes, layout));
    const expected = lines.filter((line) => line.height === height);
    const found = Array.from(candidates.tx, (tx, at) => {
      const start = candidates.scriptStart[at]!;
      return {
        height,
        tx,
        outputs: knownCompactSize(bytes, layout.outputsAt[tx]!),
        script: Buffer.from(bytes.subarray(start, start + candidates.scriptLength[at]!)).toString('hex'),
      };
    });
    expect(found).toEqual(expected.map(({ tx, outputs, script }) => ({ height, tx, outputs, script })));
    const messages = runeMessages(bytes, { txOutputs: layout.outputsAt }, candidates);
    expect(messages.map(({ tx, artifact }) => ({ tx, artifact }))).toEqual(
      expected.map(({ tx, outputs, script }) => ({
        tx,
        artifact: read(Buffer.from(script, 'hex'), outputs),
      })),
    );
    for (const { tx, txidAt } of messages) {
      const txid = candidates.txid.subarray(txidAt, txidAt + 32);
      const [start, end] = [layout.start[tx]!, layout.start[tx + 1]!];
      expect(Buffer.compare(txid, transactionId(bytes, start, layout.outputsAt[tx]!, end)), `${tx}`).toBe(0);
    }
    expect(messages.filter(({ artifact }) => artifact.kind === 'cenotaph')).toEqual([]);
  });
});
