import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { BlockRef, BlockSource } from '#kernel/contracts/block-source.ts';
import type { HeaderRef, LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type KnownEnds, knownRefs, workOfHeader } from './known-blocks.ts';
import { type Plan, plan, type Rule, type TheirPart, type WeighedRef } from './plan.ts';

/**
 * So many headers are asked for at once: what a node gives in one REST answer. They are the refs of one round too: some
 * 400 bytes each, and at the end of a round what was read ahead runs dry for some milliseconds of its seconds.
 */
const pageHeaders = 2000;
/** A chain that changes so often between the pages of one plan is looked at again later. */
const restartsMax = 5;

export type Steps = Extract<Plan, { kind: 'steps' }>;

export interface Planned {
  readonly plan: Exclude<Plan, { kind: 'needHeaders' }>;
  /** Their best block at that moment; null: the source has none. */
  readonly sourceTip: BlockRef | null;
}

export function isLive(source: BlockSource | LiveBlockSource): source is LiveBlockSource {
  return 'news' in source;
}

/** Asks the database and the source for as much of both chains as a plan takes. */
export async function makePlan(
  client: pg.ClientBase,
  ends: KnownEnds | null,
  source: BlockSource | LiveBlockSource,
  signal: AbortSignal,
): Promise<Planned> {
  for (let attempt = 0; attempt < restartsMax; attempt++) {
    const theirs = isLive(source) ? new LiveChain(source, signal) : await RestingChain.of(source);
    const planned = await decide(client, ends, theirs, isLive(source) ? 'weigh' : 'take');
    if (planned === null) continue;
    if (planned.plan.kind !== 'wait' || !isLive(source) || ends === null) return planned;
    if (!(await source.isInvalid(ends.tip.hash, signal))) return planned;
    const taken = await decide(client, ends, new LiveChain(source, signal), 'take');
    if (taken !== null) return taken;
  }
  throw new AppError('node_answer_invalid', `The headers of ${source.name} do not form a chain.`);
}

/** What a source says of its chain, part by part. */
interface TheirChain {
  /** Whether blocks vouch for those below them, as they do for a node. */
  readonly isOneRunFrom: (lowest: number) => boolean;
  /** Its blocks from `from` up to and without `end` (null: up to a page, or all). Null: it is another chain by now. */
  below(from: number, end: number | null): Promise<WeighedRef[] | null>;
  readonly isComplete: boolean;
  tip(): Promise<BlockRef | null>;
}

/** Null where their chain changed meanwhile. */
async function decide(
  client: pg.ClientBase,
  ends: KnownEnds | null,
  chain: TheirChain,
  rule: Rule,
): Promise<Planned | null> {
  const isWindow = ends !== null && ends.isOneRun && chain.isOneRunFrom(ends.lowest);
  let from = isWindow ? ends.tip.height : 0;
  if (ends !== null && from < ends.lowest) from = 0;
  let ours = await knownRefs(client, from, 2 ** 31 - 1);
  const first = await chain.below(from, null);
  if (first === null) return null;
  let theirs: TheirPart = { from, blocks: first, beyond: null, isComplete: chain.isComplete };
  for (;;) {
    const next = plan({ from, blocks: ours }, theirs, rule);
    if (next.kind !== 'needHeaders') return { plan: next, sourceTip: await chain.tip() };
    if (next.from < from) {
      const lowest = next.from < (ends?.lowest ?? 0) ? 0 : next.from;
      const blocks = await chain.below(lowest, from);
      if (blocks === null) return null;
      ours = [...(await knownRefs(client, lowest, from)), ...ours];
      theirs = { ...theirs, from: lowest, blocks: [...blocks, ...theirs.blocks] };
      from = lowest;
    } else {
      const page = await chain.below(next.from, null);
      if (page === null) return null;
      const work = page.reduce((sum, block) => sum + block.work, theirs.beyond?.work ?? 0n);
      const height = page.at(-1)?.height ?? next.from - 1;
      theirs = { ...theirs, beyond: { height, work }, isComplete: chain.isComplete };
    }
  }
}

/** A folder: what it is was read when it was opened. */
class RestingChain implements TheirChain {
  readonly isComplete = true;
  readonly isOneRunFrom: (lowest: number) => boolean;
  private readonly source: BlockSource;

  private constructor(source: BlockSource, isOneRunFrom: (lowest: number) => boolean) {
    this.source = source;
    this.isOneRunFrom = isOneRunFrom;
  }

  static async of(source: BlockSource): Promise<RestingChain> {
    const islands = await source.islands();
    return new RestingChain(source, (lowest) => islands.length === 1 && islands[0]?.firstHeight === lowest);
  }

  async below(from: number, end: number | null): Promise<WeighedRef[]> {
    const refs = await this.source.refs(from);
    const wanted = end === null ? refs : refs.filter(({ height }) => height < end);
    return wanted.map(({ height, hash }) => ({ height, hash, work: 0n }));
  }

  async tip(): Promise<BlockRef | null> {
    const last = (await this.source.islands()).at(-1)?.lastHeight;
    return last === undefined ? null : ((await this.source.refs(last)).at(-1) ?? null);
  }
}

/**
 * A node: its headers are asked for page by page, and must fit those that were given before. A part that ends early ends
 * at the tip of the node.
 */
class LiveChain implements TheirChain {
  isComplete = false;
  private readonly source: LiveBlockSource;
  private readonly signal: AbortSignal;
  private lowest: HeaderRef | null = null;
  private highest: HeaderRef | null = null;

  constructor(source: LiveBlockSource, signal: AbortSignal) {
    this.source = source;
    this.signal = signal;
  }

  // its chain begins at 0
  readonly isOneRunFrom = (lowest: number): boolean => lowest === 0;

  async below(from: number, end: number | null): Promise<WeighedRef[] | null> {
    const headers: HeaderRef[] = [];
    const stop = end ?? from + pageHeaders;
    while (from + headers.length < stop) {
      const count = Math.min(pageHeaders, stop - from - headers.length);
      const page = await this.source.headers(from + headers.length, count, this.signal);
      if (!isRun(headers.at(-1) ?? null, page)) return null;
      headers.push(...page);
      if (page.length === count) continue;
      if (end === null) this.isComplete = true;
      break;
    }
    const isJoined =
      end === null
        ? isRun(this.highest, headers)
        : this.lowest === null || follows(this.lowest, headers.at(-1));
    if (!isJoined) return null;
    this.lowest = end === null ? (this.lowest ?? headers[0] ?? null) : (headers[0] ?? this.lowest);
    this.highest = end === null ? (headers.at(-1) ?? this.highest) : (this.highest ?? headers.at(-1) ?? null);
    return headers.map(({ height, hash, header }) => ({ height, hash, work: workOfHeader(header) }));
  }

  async tip(): Promise<BlockRef | null> {
    if (!this.isComplete) return this.source.tip(this.signal);
    return this.highest;
  }
}

/** Whether headers follow each other, and the first of them the one that was there before. */
function isRun(before: HeaderRef | null, headers: readonly HeaderRef[]): boolean {
  let last = before;
  for (const header of headers) {
    if (last !== null && !follows(header, last)) return false;
    last = header;
  }
  return true;
}

function follows(header: HeaderRef, parent: HeaderRef | undefined): boolean {
  assert(header.header.length === 80, 'a header has 80 bytes');
  if (parent === undefined || parent.height !== header.height - 1) return false;
  return Buffer.compare(header.header.subarray(4, 36), parent.hash) === 0;
}
