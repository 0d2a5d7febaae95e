import { strict as assert } from 'node:assert';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';

/** A block in a comparison. `work` is the work that its header proves if chains are weighed, otherwise 0. */
export interface WeighedRef extends BlockRef {
  readonly work: bigint;
}

/** All blocks of our chain from a height on, ascending. `from` 0: the whole chain. */
export interface OurPart {
  readonly from: Height;
  readonly blocks: readonly WeighedRef[];
}

/** The source's chain from the same height on, as far as it was read. */
export interface TheirPart extends OurPart {
  /**
   * Headers after `blocks` that were read only for their work: the sum of their work, and the height reached (-1:
   * none).
   */
  readonly beyond: { readonly height: Height | -1; readonly work: bigint } | null;
  /** True if their chain was read up to its tip. */
  readonly isComplete: boolean;
}

export type Plan =
  /** Take back all blocks above `undoTo` (-1: every block; null: no block), then apply these blocks in this order. */
  | { readonly kind: 'steps'; readonly undoTo: Height | -1 | null; readonly apply: readonly BlockRef[] }
  /**
   * Undecided: first read headers from this height on. It is below the known part of both chains, or after the known
   * part of theirs.
   */
  | { readonly kind: 'needHeaders'; readonly from: Height }
  /** Their chain has less work than ours. It is not followed now, but may gain work later. */
  | { readonly kind: 'wait'; readonly code: 'node_behind' }
  /**
   * Another network: the chains have no common block, although block 0 is known, or although more blocks are known than
   * any reorganisation replaces.
   */
  | { readonly kind: 'refuse'; readonly code: 'network_mismatch' };

/**
 * `weigh`: the source is a node, and its chain is followed if it has at least as much work as ours. `take`: this chain
 * must be indexed whatever its work is, because a person named the folder or the node calls our tip invalid.
 */
export type Rule = 'weigh' | 'take';

/**
 * Minimum number of blocks, without a common block, that proves another network (for example another signet). It is a
 * fortnight of blocks, deeper than any reorganisation of a real network. Used for chains that begin above height 0,
 * because even their first block can be reorganised.
 */
const otherNetworkBlocks = 2016;

/** Number of blocks below the tip that are compared first. Very few reorganisations are deeper. */
const firstWindowBlocks = 16;

/**
 * Plans how to get from our chain to theirs: back to the last common block, then forward. Both parts begin at the same
 * height and may have gaps. If a block fills a gap of our chain, our later blocks are applied again. If a part does not
 * begin at 0, its first block proves all blocks below it, which holds for chains without gaps. Chains that separate
 * below the lowest stored block are weighed from that block on.
 *
 * Pure. If it asks for headers, call it again with them. It decides after at most log2(depth) steps downwards. Upwards
 * it reads one page after another until it has found enough work.
 */
export function plan(ours: OurPart, theirs: TheirPart, rule: Rule): Plan {
  assert(ours.from === theirs.from, 'chains are compared from the same height on');
  const shared = sharedLength(ours.blocks, theirs.blocks);
  const ourTip = ours.blocks.at(-1);
  assert(ourTip !== undefined || ours.from === 0, 'a part of a chain has at least its tip');
  if (ourTip !== undefined && shared === 0 && ours.from > 0) {
    return { kind: 'needHeaders', from: lower(ours.from, ourTip.height) };
  }
  const apply = theirs.blocks.slice(shared);
  if (shared === ours.blocks.length) return { kind: 'steps', undoTo: null, apply };
  const steps: Plan = { kind: 'steps', undoTo: ours.blocks[shared - 1]?.height ?? -1, apply };
  return rule === 'take' ? steps : (weigh(ours, theirs, shared) ?? steps);
}

/** The reason not to follow their chain if it lacks a block of ours. Null: their chain has enough work. */
function weigh(ours: OurPart, theirs: TheirPart, shared: number): Plan | null {
  if (shared === 0 && isOtherNetwork(ours.blocks, theirs.blocks)) {
    return { kind: 'refuse', code: 'network_mismatch' };
  }
  const theirWork = workOf(theirs.blocks.slice(shared)) + (theirs.beyond?.work ?? 0n);
  if (theirWork >= workOf(ours.blocks.slice(shared))) return null;
  if (theirs.isComplete) return { kind: 'wait', code: 'node_behind' };
  return { kind: 'needHeaders', from: firstUnknown(theirs) };
}

/** Whether two chains, known from their first blocks on, have no common block. */
function isOtherNetwork(ours: readonly BlockRef[], theirs: readonly BlockRef[]): boolean {
  const first = ours[0]?.height;
  if (first === undefined || first !== theirs[0]?.height) return false;
  return first === 0 || ours.length > otherNetworkBlocks;
}

function firstUnknown({ from, blocks, beyond }: TheirPart): Height {
  const last = beyond?.height ?? blocks.at(-1)?.height;
  return last === undefined ? from : asHeight(last + 1);
}

/** Start height of a comparison with twice as many blocks below our tip as before. 0 if that reaches the beginning. */
function lower(from: Height, tip: Height): Height {
  return asHeight(Math.max(0, tip + 1 - Math.max(firstWindowBlocks, 2 * (tip + 1 - from))));
}

function sharedLength(ours: readonly BlockRef[], theirs: readonly BlockRef[]): number {
  let shared = 0;
  while (shared < ours.length && shared < theirs.length && sameRef(ours[shared], theirs[shared])) shared++;
  return shared;
}

function workOf(blocks: readonly WeighedRef[]): bigint {
  return blocks.reduce((sum, { work }) => sum + work, 0n);
}

function sameRef(a: BlockRef | undefined, b: BlockRef | undefined): boolean {
  if (a === undefined || b === undefined || a.height !== b.height) return false;
  return Buffer.compare(a.hash, b.hash) === 0;
}
