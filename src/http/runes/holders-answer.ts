import { Type } from 'typebox';
import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { amountParts, ownerParts, textOrNull, units } from './rune-views.ts';

/** The JSON of a page of holders. */
export const holdersAnswer = Type.Object({
  rune: Type.String(),
  id: Type.String(),
  height: Type.Integer({ description: 'the state after the block at this height' }),
  divisibility: Type.Integer(),
  held: units,
  burned: units,
  minted: units,
  premine: units,
  proven: Type.Boolean({ description: 'held + burned = minted + premine' }),
  count: Type.Integer({ description: 'number of all holders' }),
  holders: Type.Array(
    Type.Object({
      ...ownerParts,
      ...amountParts,
      outputs: Type.Integer(),
    }),
  ),
  nextCursor: textOrNull,
});

export type HoldersAnswer = Type.Static<typeof holdersAnswer>;

/** A page of holders. */
export interface FoundHolders {
  readonly answer: HoldersAnswer;
  readonly rune: RuneDetail;
  /** Number of holders before the first holder of the page. */
  readonly offset: number;
  readonly tip: Tip | null;
}
