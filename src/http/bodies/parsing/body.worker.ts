import { move, transferableSymbol, valueSymbol } from 'piscina';
import { joinBlocks } from './body-blocks.ts';
import { type StructureBounds, structureFault } from './body-structure.ts';
import { liftLongTexts } from './long-texts.ts';
import { type ParsedBody, parseBody, type WholeBodyKind } from './parse-body.ts';

export interface BodyTask {
  readonly kind: WholeBodyKind;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  readonly bounds: StructureBounds;
  /** Return long texts of the value as bytes (long-texts.ts). */
  readonly longTexts: boolean;
}

/** Parses the bytes of a large body, and returns the result. Large buffers are transferred both ways. */
export default function parse({ kind, blocks, bounds, longTexts }: BodyTask): unknown {
  const bytes = joinBlocks(blocks);
  const fault = structureFault(kind, bytes, bounds);
  if (fault !== null) return { ok: false, message: fault.message } satisfies ParsedBody;
  const parsed = parseBody(kind, bytes);
  if (!parsed.ok || !longTexts) return parsed;
  const { value, buffer } = liftLongTexts(parsed.value);
  return move({
    [transferableSymbol]: buffer === null ? [] : [buffer],
    [valueSymbol]: { ok: true, value } satisfies ParsedBody,
  } as unknown as Parameters<typeof move>[0]);
}
