import { move, transferableSymbol, valueSymbol } from 'piscina';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { verifyBlock } from '#indexer/source/verify-block.ts';
import type { ParseJob, ParseJobOutcome, ParseJobResult } from './parse-job.ts';

/** Checks and parses one block. Gives back its buffers, so that they can be used again. */
export default function run(job: ParseJob): unknown {
  const outcome = outcomeOf(job);
  const { block, spent } = job;
  const result: ParseJobResult = { ...outcome, block, spent };
  const buffers: ArrayBuffer[] = [block.buffer];
  if (spent !== null) buffers.push(spent.buffer);
  if (outcome.ok) buffers.push(outcome.columns);
  return move({ [transferableSymbol]: buffers, [valueSymbol]: result } as unknown as Parameters<
    typeof move
  >[0]);
}

function outcomeOf(job: ParseJob): ParseJobOutcome {
  if (job.verify) {
    const verification = verifyBlock(job.block, job);
    if (!verification.ok) return verification;
  }
  const parsed = parseBlock(job.block, job);
  if (parsed.kind === 'parsed') return { ok: true, columns: parsed.columns };
  const { code, message, at } = parsed;
  return { ok: false, code, message, at };
}
