import type { Collection } from '#collections/collection/collection.store.ts';
import type { CollectionFile } from '#collections/collection/files.store.ts';
import type { ListedPhase } from '#collections/collection/phases.store.ts';
import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { contentTypeOf, fileExtensions } from '#kernel/requests/file-types.ts';

/** A fault that prevents the approval of a collection. */
export interface ApprovalFault {
  /** The field, or the name of the file. */
  readonly where: string;
  /** The reason, worded to follow the name. */
  readonly why: string;
}

/** A collection with all data that decides its approval. */
export interface ApprovalFacts {
  readonly collection: Pick<Collection, 'totalCount' | 'price' | 'creatorAddress'>;
  readonly phases: readonly Pick<ListedPhase, 'phase' | 'price'>[];
  readonly files: readonly CollectionFile[];
}

/** Bounds of contents, and the operator's permission to sell equal contents. */
export interface ApprovalOptions {
  /** Whether two files may have the same bytes. */
  readonly allowsDoubles: boolean;
  /** Maximum number of bytes of a file that an order can inscribe. */
  readonly bytesMax: number;
  /** Whether a miner accepts transactions above the standard weight (NONSTANDARD_MINER_URL). */
  readonly nonStandard: boolean;
}

/** Finds the faults that do not depend on contents, before any file is fetched. Pure. */
export function termFaults({ collection, phases, files }: ApprovalFacts): readonly ApprovalFault[] {
  const { totalCount, price, creatorAddress } = collection;
  const faults: ApprovalFault[] = [];
  const priced = phases.filter((phase) => (phase.price ?? price) > 0n).map(({ phase }) => phase);
  if (creatorAddress === null && (price > 0n || priced.length > 0))
    faults.push({
      where: 'creator-address',
      why: `is missing, and items have a price${priced.length === 0 ? '' : ` (in phase ${priced.join(', ')})`}, so the receiver of the price is unknown`,
    });
  if (phases.length === 0) faults.push({ where: 'phases', why: 'are missing, so nothing could be sold' });
  if (files.length === 0)
    faults.push({ where: 'files', why: 'are missing; add the files of a folder with satscribe mint upload' });
  else if (files.length !== totalCount && files.length !== 1)
    faults.push({
      where: 'files',
      why: `are ${files.length}, but totalCount is ${totalCount}; send totalCount files, or one file for an edition`,
    });
  return [...faults, ...files.flatMap(nameFaults)];
}

function nameFaults({ name, url, stored }: CollectionFile): readonly ApprovalFault[] {
  if (contentTypeOf(name) === null)
    return [{ where: name, why: `has a type that cannot be inscribed; the types are ${fileExtensions}` }];
  return url === null && stored === null
    ? [{ where: name, why: 'has no URL and was not uploaded; upload it with satscribe mint upload' }]
    : [];
}

/**
 * Returns why a file of this length cannot be sold, worded to follow the file's name. `null` if it can be sold. Pure.
 */
export function contentFault(bytes: number, { bytesMax, nonStandard }: ApprovalOptions): string | null {
  if (bytes === 0) return 'is empty, but an inscription needs at least one byte';
  if (bytes > bytesMax) return `has ${bytes} bytes, but a file has at most ${bytesMax}`;
  return !nonStandard && leastRevealWeight(bytes) > standardWeightMax
    ? `has ${bytes} bytes, which no standard transaction can inscribe; this needs a miner (NONSTANDARD_MINER_URL)`
    : null;
}

/** Minimum weight of a reveal of a content: pushes of 520 bytes each, one input and one output. */
const leastRevealWeight = (bytes: number): number => bytes + 3 * Math.ceil(bytes / 520) + 400;

/**
 * Finds faults of stored contents. Two files with the same bytes are most often a mistake of the creator, and a sale
 * cannot be undone, so the operator must allow equal contents. Pure.
 */
export function contentFaults(
  files: readonly CollectionFile[],
  options: ApprovalOptions,
): readonly ApprovalFault[] {
  const first = new Map<string, string>();
  return files.flatMap(({ name, stored }): readonly ApprovalFault[] => {
    if (stored === null) return [];
    const fault = contentFault(stored.bytes, options);
    if (fault !== null) return [{ where: name, why: fault }];
    const hex = stored.sha256.toString('hex');
    const double = first.get(hex);
    if (double === undefined) first.set(hex, name);
    return double === undefined || options.allowsDoubles
      ? []
      : [{ where: name, why: `has the same bytes as ${double}; use --allow-doubles to sell both items` }];
  });
}

/** A file whose size differs from the size that its creator sent. */
export interface SizeDifference {
  readonly name: string;
  readonly toldBytes: number;
  readonly bytes: number;
}

/**
 * Files whose size differs from the size that the creator sent. The stored bytes are sold, so a difference is not a
 * fault. Pure.
 */
export const sizeDifferences = (files: readonly CollectionFile[]): readonly SizeDifference[] =>
  files.flatMap(({ name, toldBytes, stored }) =>
    toldBytes === null || stored === null || stored.bytes === toldBytes
      ? []
      : [{ name, toldBytes, bytes: stored.bytes }],
  );
