import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import type { DerivedTable } from './derived-table.ts';

interface NamedIndex {
  /** Name in messages, such as `index of addresses`. */
  readonly name: string;
  readonly fixed: ErrorCode;
  readonly gap: ErrorCode;
}

/**
 * Refusals of a table that needs every block from height 0 on. The index may have begun above height 0, and outputs of
 * skipped blocks cannot be added later.
 */
export function everyBlock({
  name,
  fixed,
  gap,
}: NamedIndex): Required<Pick<DerivedTable, 'refusal' | 'refuse'>> {
  return {
    refusal(isWanted) {
      const message = isWanted
        ? `The database was filled without the ${name}, which must begin with the first block.`
        : `The database has the ${name}, which needs every block.`;
      return new AppError(fixed, message, { wanted: isWanted });
    },
    /** Throws for a block after a gap, because the table would lack the outputs of the missing blocks. */
    refuse({ height }: BlockRef, tip: BlockRef | null) {
      const next = (tip?.height ?? -1) + 1;
      if (height === next) return;
      const message = `The ${name} needs every block from height 0 on, but ${next} is missing before ${height}.`;
      throw new AppError(gap, message, { expected: next, height });
    },
  };
}
