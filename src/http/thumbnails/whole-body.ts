import type { StoredBody } from '#chain/inscriptions/content.queries.ts';
import { decodeContent } from '#http/content/decode-content.ts';
import type { ContentReads } from '#http/server/budgets/content-reads.ts';
import type { EncodingName } from '#indexer/parse/content-decoding.ts';
import type { Asker } from '#kernel/contracts/asker.ts';

interface EncodedBody {
  readonly body: StoredBody;
  readonly encoding: EncodingName | null;
}

/**
 * Reads all bytes of a body, decoded. `null` if there is no body, if the body has more than `bytesMax`, or if it cannot
 * be decoded.
 */
export async function wholeBody(
  reads: ContentReads,
  asker: Asker,
  { body, encoding }: EncodedBody,
  bytesMax: number,
): Promise<Buffer | null> {
  if (body.sizeBytes === 0 || body.sizeBytes > bytesMax) return null;
  const pieces = await reads.pieces(asker, body, { from: 0, count: body.sizeBytes });
  const chunks: Buffer[] = [];
  if (encoding === null) for await (const piece of pieces) chunks.push(piece);
  else {
    let length = 0;
    const end = await decodeContent(encoding, inOrder(pieces), (chunk) => {
      length += chunk.length;
      chunks.push(chunk);
      return length <= bytesMax;
    });
    if (end !== 'whole') return null;
  }
  return Buffer.concat(chunks);
}

async function* inOrder(pieces: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* pieces;
}
