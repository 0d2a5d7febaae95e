import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { joinBlocks } from './body-blocks.ts';
import { type StructureBounds, structureFault } from './body-structure.ts';
import { type LongTexts, liftLongTexts } from './long-texts.ts';
import { type ParsedBody, parseBody, type WholeBodyKind } from './parse-body.ts';

export interface BodyTask {
  readonly kind: WholeBodyKind;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  readonly bounds: StructureBounds;
  /** The texts that are returned as bytes if they are long (long-texts.ts). */
  readonly longTexts: LongTexts;
}

/**
 * Minimum size of a body after which garbage is collected at once, in bytes. The body, its text, its values and their
 * bytes need five times the size of the body. Without this, an idle thread keeps the memory until it parses the next
 * body.
 */
const collectedBytes = 8_000_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Parses the bytes of a large body, and returns the result. Large buffers are transferred both ways. */
export default function parse(task: BodyTask): unknown {
  const { kind, blocks, bounds, longTexts } = task;
  const bytes = joinBlocks(blocks);
  const { byteLength } = bytes;
  for (const block of blocks) if (block.buffer !== bytes.buffer) release(block);
  const fault = structureFault(kind, bytes, bounds);
  const parsed: ParsedBody = fault === null ? parseBody(kind, bytes) : { ok: false, message: fault.message };
  release(bytes);
  if (!parsed.ok || longTexts === false) return parsed;
  const { value, buffer } = liftLongTexts(parsed.value, longTexts);
  if (byteLength >= collectedBytes) collect();
  return move({
    [transferableSymbol]: buffer === null ? [] : [buffer],
    [valueSymbol]: { ok: true, value } satisfies ParsedBody,
  } as unknown as Parameters<typeof move>[0]);
}

/** Frees the memory of bytes that are no longer needed, before garbage is collected. */
const release = ({ buffer }: Uint8Array<ArrayBuffer>): void => void buffer.transfer(0);
