import { BodyBlocks, joinBlocks } from './body-blocks.ts';
import type { BodyReader } from './body-reader.ts';
import { type StructureBounds, structureFault } from './body-structure.ts';
import type { LargeBodyParser } from './large-body-parser.ts';
import type { LongTexts } from './long-texts.ts';
import { type ParsedBody, parseBody, type WholeBodyKind } from './parse-body.ts';

export interface WholeBodyOptions {
  readonly kind: WholeBodyKind;
  /** Bounds and maximum size of a body that the event loop parses. */
  readonly small: StructureBounds & { readonly bytes: number };
  /** Bounds of a body that a thread parses. `null` if a body that exceeds `small.marks` is refused. */
  readonly large: StructureBounds | null;
  /** The texts of a large body that become bytes if they are long (long-texts.ts). */
  readonly longTexts: LongTexts;
  readonly thread: LargeBodyParser;
  /** Called with the size of each block before it is created. May throw. */
  readonly takeRoom: (bytes: number) => void;
}

/**
 * Keeps the bytes of a body until it is complete, and then parses it. A body within the `small` bounds is parsed at
 * once. A thread parses any other body.
 */
export class WholeBodyReader implements BodyReader {
  readonly #options: WholeBodyOptions;
  readonly #blocks: BodyBlocks;

  /**
   * Creates an empty body.
   *
   * @param expected length of the body in bytes that the client announced; 0 if unknown
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
    let blocks = this.#blocks.blocks();
    if (this.#blocks.byteLength <= small.bytes) {
      const bytes = joinBlocks(blocks);
      const fault = structureFault(kind, bytes, small);
      if (fault === null) return parseBody(kind, bytes);
      if (large === null || fault.bound === 'depth') return { ok: false, message: fault.message };
      blocks = [bytes];
    }
    return thread.parse({ kind, blocks, bounds: large ?? small, longTexts });
  }
}
