import { move, transferableSymbol, valueSymbol } from 'piscina';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { verifyBlock } from '#indexer/source/verify-block.ts';
import type { ParseJob, ParseJobResult } from './parse-job.ts';

/** Checks and parses one block. Gives back its buffers, so that they can be used again. */
export default function run(job: ParseJob): unknown {
  const result = resultOf(job);
  const { block, spent, columns } = result;
  const buffers: ArrayBuffer[] = [block.buffer, columns];
  if (spent !== null) buffers.push(spent.buffer);
  return move({ [transferableSymbol]: buffers, [valueSymbol]: result } as unknown as Parameters<
    typeof move
  >[0]);
}

function resultOf(job: ParseJob): ParseJobResult {
  const { block, spent, into } = job;
  if (job.verify) {
    const verification = verifyBlock(block, job);
    if (!verification.ok) return { ...verification, block, spent, columns: into };
  }
  const parsed = parseBlock(block, job);
  if (parsed.kind === 'parsed') return { ok: true, block, spent, columns: parsed.columns };
  const { code, message, at } = parsed;
  return { ok: false, code, message, at, block, spent, columns: into };
}
