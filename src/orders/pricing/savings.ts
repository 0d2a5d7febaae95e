import { createHash } from 'node:crypto';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import { atOnce } from '#kernel/concurrency/work-in-steps.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { FirstOfHash, SearchService } from '#kernel/contracts/search-service.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { FileTerms, OrderTerms } from '#orders/inscribing/order-terms.ts';
import { type OrderPrices, type OrderQuote, quoteOrder } from '#orders/inscribing/quote-order.ts';
import { contentOf } from '#orders/reading/data-url.ts';
import { type EncodeOptions, encodeContents } from '#orders/reading/encode-contents.ts';
import type { ReadFile } from '#orders/reading/read-files.ts';
import type { ReadOrder } from '#orders/reading/read-order.ts';

export interface Saving {
  readonly code: 'shared-output' | 'compress' | 'delegates';
  /** A sentence for people. */
  readonly message: string;
  /** Number of sats by which the order would be cheaper. */
  readonly sats: number;
}

export interface SavingsParts {
  readonly search: Pick<SearchService, 'hashes'>;
  readonly asker: Asker;
  readonly encoding: EncodeOptions;
}

/**
 * Maximum number of files whose contents are looked up, and maximum total of their bytes. Hashing takes a millisecond
 * of the event loop per megabyte.
 */
const lookedUpMax = 100;
const lookedUpBytesMax = 4_000_000;

/** Ways to pay less for the same order. Each way is the same plan with one change. */
export async function savingsOf(
  quote: OrderQuote,
  terms: OrderTerms,
  prices: OrderPrices,
  read: ReadOrder,
  parts: SavingsParts,
): Promise<Saving[]> {
  const savings: Saving[] = [];
  const add = (code: Saving['code'], changed: OrderTerms | null, message: string): void => {
    const other = changed === null ? null : quoteOrder(changed, prices);
    if (other === null || other.kind === 'refused' || other.amount >= quote.amount) return;
    savings.push({ code, message, sats: Number(quote.amount - other.amount) });
  };
  add(
    'shared-output',
    { ...terms, batchMode: 'shared-output' },
    'batchMode shared-output puts all inscriptions into one output, at distances of one postage.',
  );
  if (!read.compress) {
    const encoded = await encodeContents({ ...read, compress: true }, parts.encoding);
    add(
      'compress',
      encoded.kind === 'encoded' ? { ...terms, files: encoded.terms.files } : null,
      'compress stores contents in brotli if that is shorter. Browsers show the same contents, but their hashes differ.',
    );
  }
  const known = await knownContents(read.files, parts);
  add(
    'delegates',
    known.size === 0 ? null : { ...terms, files: terms.files.map((file, index) => known.get(index) ?? file) },
    `${known.size} of the files were inscribed before. As delegates, they show the same content.`,
  );
  return savings;
}

/** Delegates for files whose content and type already exist in an inscription, by the file's index. */
async function knownContents(
  files: readonly ReadFile[],
  { search, asker }: SavingsParts,
): Promise<ReadonlyMap<number, FileTerms>> {
  const hashed: { readonly index: number; readonly file: ReadFile; readonly hash: Uint8Array }[] = [];
  let bytes = 0;
  for (const [index, file] of files.entries()) {
    const data = file.body?.kind === 'data' && file.terms.delegate === null ? file.body.data : null;
    if (data === null || hashed.length === lookedUpMax || bytes + data.bytes > lookedUpBytesMax) continue;
    bytes += data.bytes;
    await nextTurn(asker.client);
    asker.signal.throwIfAborted();
    hashed.push({
      index,
      file,
      hash: createHash('sha256')
        .update(atOnce(contentOf(data)))
        .digest(),
    });
  }
  if (hashed.length === 0) return new Map();
  const { value } = await search.hashes(
    hashed.map(({ hash }) => hash),
    asker,
  );
  return new Map(
    hashed.flatMap(({ index, file }, place): [number, FileTerms][] => {
      const delegate = delegateOf(file, value[place]);
      return delegate === null ? [] : [[index, delegate]];
    }),
  );
}

function delegateOf({ terms }: ReadFile, known: FirstOfHash | undefined): FileTerms | null {
  const first = known?.first ?? null;
  if (first === null || first.contenttypestr !== terms.contentType) return null;
  const delegate = parseInscriptionId(first.inscriptionid);
  return delegate === null
    ? null
    : { ...terms, contentType: null, body: null, contentEncoding: null, delegate };
}
