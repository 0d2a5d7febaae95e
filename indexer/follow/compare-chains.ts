import { strict as assert } from 'node:assert';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';

/** A block in a comparison, with the work that its header proves if chains are weighed (otherwise 0). */
export interface WeighedRef extends BlockRef {
  readonly work: bigint;
}

/** All blocks of our chain from a height on, ascending. From 0 on: the whole chain. */
export interface OurPart {
  readonly from: Height;
  readonly blocks: readonly WeighedRef[];
}

/** The source's chain from the same height on, as far as it was read. */
export interface TheirPart extends OurPart {
  /**
   * The headers after `blocks` that were read only for their work: the height reached (-1: none), and the sum of their
   * work.
   */
  readonly beyond: { readonly height: Height | -1; readonly work: bigint } | null;
  /** Their chain was read up to its tip. */
  readonly isComplete: boolean;
}

export type Plan =
  /** Take back everything above `undoTo` (-1: everything; null: nothing), then apply these blocks in this order. */
  | { readonly kind: 'steps'; readonly undoTo: Height | -1 | null; readonly apply: readonly BlockRef[] }
  /** Undecided: read from this height on, below the known part of both chains or after the known part of theirs. */
  | { readonly kind: 'needHeaders'; readonly from: Height }
  /** Their chain has less work than ours: it is not followed now, but may gain work later. */
  | { readonly kind: 'wait'; readonly code: 'node_behind' }
  /**
   * The chains have no common block, although block 0 is known, or more blocks than any reorganisation replaces:
   * another network.
   */
  | { readonly kind: 'refuse'; readonly code: 'network_mismatch' };

/**
 * `weigh`: the source is a node, whose chain is followed if it has at least as much work as ours. `take`: this chain
 * must be indexed, whatever its work: a named folder, or a node that calls our tip invalid.
 */
export type Rule = 'weigh' | 'take';

/**
 * Number of blocks, without a common one, that proves another network (for example another signet): a fortnight, deeper
 * than any reorganisation of a real network. For chains that begin above height 0: even their first block can be
 * reorganised.
 */
const otherNetworkBlocks = 2016;

/** Blocks below the tip that are compared first: very few reorganisations are deeper. */
const firstWindowBlocks = 16;

/**
 * The way from our chain to theirs: back to the last common block, then forward. Both parts begin at the same height
 * and may have gaps. A block that fills a gap of ours precedes blocks that we have, so those are applied again. If a
 * part does not begin at 0, its first block vouches for all blocks below it; that is true for chains without gaps.
 * Chains that separate below the lowest stored block are weighed from that block on.
 *
 * Pure. It asks for headers and is called again with them. It decides after at most log2(depth) steps downwards, and
 * one page after another upwards until it has found the work.
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

/** The reason not to follow their chain, if it lacks a block of ours; null: it has enough work. */
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

/** Twice as many blocks below our tip as before, or all of them if that reaches the beginning. */
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
