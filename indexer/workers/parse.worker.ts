import { threadId } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina';
import type { EncodedFacts } from '#indexer/facts/block-facts.ts';
import { readFacts } from '#indexer/facts/read-facts.ts';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { useCompiledSha256 } from '#indexer/parse/sha256/sha256-lanes.ts';
import { type Verification, verifyBlock } from '#indexer/source/verify-block.ts';
import { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { runInBackground } from '#kernel/process/background-thread.ts';
import { Laps } from '#kernel/stages/span.ts';
import type { ParseJob, ParseJobResult, ParseThread } from './parse-job.ts';

const { isBackground, sha256 } = workerData as ParseThread;
if (isBackground) runInBackground();
useCompiledSha256(sha256);

/** Checks and parses one block. */
export default function run(job: ParseJob): unknown {
  const laps = job.isTimed ? new Laps(true) : null;
  const parsed = resultOf(job, laps);
  const result = laps === null ? parsed : { ...parsed, times: { thread: threadId, spans: laps.spans } };
  const buffers: ArrayBuffer[] = [...result.facts.values()];
  if (result.columns instanceof ArrayBuffer) buffers.push(result.columns);
  return move({ [transferableSymbol]: buffers, [valueSymbol]: result } as unknown as Parameters<
    typeof move
  >[0]);
}

function resultOf(job: ParseJob, laps: Laps | null): ParseJobResult {
  const { block, into } = job;
  const verification = job.verify ? verifyBlock(block, job, layout) : readable(block);
  laps?.lap('check', { bytes: block.length });
  if (!verification.ok) return { ...verification, columns: null, facts: noFactsRead };
  const parsed = parseBlock(block, { ...job, layout });
  if (parsed.kind === 'parsed') {
    const columns = parsed.columns === into ? null : parsed.columns;
    const facts = readFacts(job.facts, job, layout);
    laps?.lap('parse', { bytes: block.length });
    return { ok: true, columns, facts };
  }
  const { code, message, at } = parsed;
  return { ok: false, code, message, at, columns: null, facts: noFactsRead };
}

const noFactsRead: EncodedFacts = new Map();

/** Layout of the current block: read once, for all work of this thread on the block. */
const layout = new BlockLayout();

function readable(block: Uint8Array): Verification {
  const broken = readLayout(block, layout);
  return broken === null ? { ok: true } : { ok: false, ...broken };
}
