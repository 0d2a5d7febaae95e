import { move, transferableSymbol, valueSymbol } from 'piscina';
import { joinBlocks } from './body-blocks.ts';
import { liftLongTexts } from './long-texts.ts';
import { type BodyKind, type ParsedBody, parseBody } from './parse-body.ts';
import type { TextList } from './text-list.ts';

export interface BodyTask {
  readonly kind: BodyKind;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  /** Return long texts of the value as bytes (long-texts.ts). */
  readonly longTexts: boolean;
}

/** Parses the bytes of a large body, and returns the result. Large buffers are transferred both ways. */
export default function parse({ kind, blocks, longTexts }: BodyTask): unknown {
  const parsed = parseBody(kind, joinBlocks(blocks));
  if (!parsed.ok) return parsed;
  if (kind === 'texts') {
    const { bytes, ends } = parsed.value as TextList;
    return moved(parsed.value, [bytes.buffer, ends.buffer]);
  }
  if (!longTexts) return parsed;
  const { value, buffer } = liftLongTexts(parsed.value);
  return moved(value, buffer === null ? [] : [buffer]);
}

function moved(value: unknown, buffers: readonly ArrayBuffer[]): unknown {
  return move({
    [transferableSymbol]: buffers,
    [valueSymbol]: { ok: true, value } satisfies ParsedBody,
  } as unknown as Parameters<typeof move>[0]);
}
