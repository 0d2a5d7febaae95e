import { BodyBlocks, joinBlocks } from './body-blocks.ts';
import type { BodyReader } from './body-reader.ts';
import { type StructureBounds, structureFault } from './body-structure.ts';
import type { LargeBodyParser } from './large-body-parser.ts';
import type { LongTexts } from './long-texts.ts';
import { type ParsedBody, parseBody, type WholeBodyKind } from './parse-body.ts';

export interface WholeBodyOptions {
  readonly kind: WholeBodyKind;
  /** Bounds of a body that the event loop parses, with its size. */
  readonly small: StructureBounds & { readonly bytes: number };
  /** Bounds of a body that a thread parses. Null: a body that exceeds `small.marks` is refused. */
  readonly large: StructureBounds | null;
  /** Long texts of a large body become bytes (long-texts.ts). */
  readonly longTexts: LongTexts;
  readonly thread: LargeBodyParser;
  /** Called with the size of each block before it is made; may throw. */
  readonly takeRoom: (bytes: number) => void;
}

/**
 * Keeps the bytes of a body until the body is complete, and parses it. A body within the `small` bounds is parsed at
 * once, any other body in a thread.
 */
export class WholeBodyReader implements BodyReader {
  readonly #options: WholeBodyOptions;
  readonly #blocks: BodyBlocks;

  /**
   * Starts without bytes.
   *
   * @param expected the length of the body in bytes, as the client states it; 0: unknown
   */
  constructor(expected: number, options: WholeBodyOptions) {
    this.#options = options;
    this.#blocks = new BodyBlocks(expected, options.takeRoom);
  }

  append(chunk: Uint8Array): void {
    this.#blocks.append(chunk);
  }

  async end(): Promise<ParsedBody> {
    const { kind, small, large, longTexts, thread } = this.#options;
    const blocks = this.#blocks.blocks();
    if (this.#blocks.byteLength <= small.bytes) {
      const bytes = joinBlocks(blocks);
      const fault = structureFault(kind, bytes, small);
      if (fault === null) return parseBody(kind, bytes);
      if (large === null || fault.bound === 'depth') return { ok: false, message: fault.message };
    }
    return thread.parse({ kind, blocks, bounds: large ?? small, longTexts });
  }
}
