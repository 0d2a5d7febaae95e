import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { joinBlocks, release } from './body-blocks.ts';
import { type StructureBounds, structureFault } from './body-structure.ts';
import { type LongTexts, liftLongTexts } from './long-texts.ts';
import { type ParsedBody, parseBody, type WholeBodyKind } from './parse-body.ts';
import { type ShortenedBody, shortenPlainTexts } from './plain-texts.ts';

export interface BodyTask {
  readonly kind: WholeBodyKind;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  readonly bounds: StructureBounds;
  /** The texts that are returned as bytes if they are long (long-texts.ts). */
  readonly longTexts: LongTexts;
}

/**
 * Minimum size of parsed bytes after which garbage is collected at once. The bytes, their text, its values and the
 * bytes of these values need five times the size of the bytes. Without this, an idle thread keeps the memory until it
 * parses the next body.
 */
const collectedBytes = 8_000_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Parses the bytes of a large body, and returns the result. Large buffers are transferred both ways. */
export default function parse({ kind, blocks, bounds, longTexts }: BodyTask): unknown {
  const bytes = joinBlocks(blocks);
  const fault = structureFault(kind, bytes, bounds);
  if (fault !== null) {
    release(bytes);
    return { ok: false, message: fault.message } satisfies ParsedBody;
  }
  const shortened = longTexts === false || kind === 'form' ? unchanged(bytes) : shortenPlainTexts(bytes);
  const { byteLength } = shortened.bytes;
  const parsed = parseBody(kind, shortened.bytes);
  release(shortened.bytes);
  const isShortened = shortened.bytes !== bytes;
  if (!parsed.ok || longTexts === false) {
    if (isShortened) release(bytes);
    return parsed;
  }
  const { value, buffers } = liftLongTexts(parsed.value, { names: longTexts, marked: shortened.texts });
  // if the texts were copied, the body is not needed any more
  if (isShortened && !buffers.includes(bytes.buffer)) release(bytes);
  if (byteLength >= collectedBytes) collect();
  return move({
    [transferableSymbol]: buffers,
    [valueSymbol]: { ok: true, value } satisfies ParsedBody,
  } as unknown as Parameters<typeof move>[0]);
}

const unchanged = (bytes: Uint8Array<ArrayBuffer>): ShortenedBody => ({ bytes, texts: new Map() });
