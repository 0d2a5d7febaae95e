import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { type PendingClaim, pendingMints } from '#chain/pending/pending-runes.queries.ts';
import { followedRevision, type NameStanding, nameStanding } from '#chain/runes/name-standing.queries.ts';
import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { mintStateOf } from '#http/ord/runes/mint-state.ts';
import { runeNameOf, runeQuestionOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import {
  isReservedRune,
  maturityBlocks,
  type Rune,
  runeCommitment,
  runeLetters,
} from '#kernel/runes/rune.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { mintEnd, mintStart, type Terms } from '#kernel/runes/terms.ts';
import { asU128, smallU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';
import { minimumRuneAt } from '#kernel/runes/unlock-schedule.ts';
import { exactNumber } from '#kernel/text/exact-number.ts';
import { foundRune } from './rune-moment.ts';
import { amountSchema, amountView, runeParts, runeView, units } from './rune-views.ts';

/** Average number of seconds between blocks, for estimated dates of future heights. */
const blockSeconds = 600;

const integerOrNull = Type.Union([Type.Integer(), Type.Null()]);
const heightOrNull = (description: string) =>
  Type.Union([Type.Integer(), Type.Null()], { description: `${description}; up to 2^64 - 1, in full` });

const mintingAnswer = Type.Object({
  ...runeParts,
  height: Type.Integer({ description: 'the next block, which a mint would be in' }),
  state: Type.String({ description: 'open, not-begun, ended, used-up, or none: no one can mint it' }),
  amount: Type.Union([amountSchema, Type.Null()], { description: 'amount of one mint' }),
  mints: Type.Integer(),
  pendingMints: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'pending transactions that mint it, each counted as if it were the next; null: no mempool is followed',
  }),
  cap: Type.Union([units, Type.Null()], { description: 'maximum number of mints' }),
  left: Type.Union([units, Type.Null()], { description: 'mints left up to the cap' }),
  progress: Type.Union([Type.Number(), Type.Null()], { description: 'mints / cap, 0 to 1' }),
  start: heightOrNull('the first block that may mint; null: any'),
  end: heightOrNull('the first block after the open mint; null: no end'),
  blocksToStart: integerOrNull,
  blocksToEnd: integerOrNull,
  minted: amountSchema,
  premine: amountSchema,
  burned: amountSchema,
});

const takenSchema = Type.Object({ ...runeParts, etching: Type.String() });
const nameAnswer = Type.Object({
  name: Type.String({ description: 'its letters; spacers do not make a different name' }),
  state: Type.String({ description: 'free, locked, taken or reserved' }),
  height: Type.Integer({ description: 'the next block' }),
  takenBy: Type.Union([takenSchema, Type.Null()]),
  unlock: Type.Union(
    [
      Type.Object({
        height: Type.Integer({ description: 'the first block that may etch it' }),
        blocksLeft: Type.Integer({ description: 'blocks to wait for it; 0: the next block may etch it' }),
        estimatedAt: Type.Union([Type.String(), Type.Null()], {
          description: 'estimate at ten minutes per block; null: there is no block to wait for',
        }),
      }),
      Type.Null(),
    ],
    { description: 'null: the name can never be etched' },
  ),
  commitment: Type.Union(
    [
      Type.Object({
        push: Type.String({ description: 'the data push of a tapscript that commits to the name, in hex' }),
        blocks: Type.Integer({ description: 'least number of blocks from the commitment to the reveal' }),
        earliestReveal: Type.Integer({
          description: 'the first block for the reveal if the next block has the commitment',
        }),
      }),
      Type.Null(),
    ],
    { description: 'null: no one can etch the name' },
  ),
  pending: Type.Union(
    [
      Type.Array(
        Type.Object({
          txid: Type.String(),
          firstSeen: Type.String(),
          rune: Type.String(),
          state: Type.String({ description: 'as in /mempool/runes' }),
          matureHeight: integerOrNull,
        }),
      ),
      Type.Null(),
    ],
    { description: 'pending transactions that etch it, the first hundred; null: no mempool is followed' },
  ),
});

/** Routes that say whether a rune can be minted, and whether a name can be etched. */
export function runeNameRoutes(app: App, deps: AppDependencies): void {
  mintingRoute(app, deps);
  nameRoute(app, deps);
}

function mintingRoute(app: App, { pool }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/rune/:rune/minting',
    schema: {
      operationId: 'runeMinting',
      summary: 'The progress of a rune’s mint',
      tags: ['runes'],
      params: Type.Object({ rune: pathParts.rune }),
      response: { 200: mintingAnswer, 304: unchanged },
    },
    config: { errors: 'own', guard: open },
    handler: async (request, reply) => {
      runeQuestionOf(request.params.rune);
      if (await answeredUnchanged(pool, request, reply, true)) return reply;
      return withSnapshot(
        pool,
        async ({ client, tip }) => {
          const rune = await foundRune(client, request.params.rune);
          const revision = await followedRevision(client);
          const pending = revision === null ? null : await pendingMints(client, rune.key);
          setMoment(request, reply, tip, revision);
          return mintingView(rune, nextHeight(tip), pending);
        },
        askerOf(reply).signal,
      );
    },
  });
}

function nameRoute(app: App, { pool, network }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/rune/:rune/name',
    schema: {
      operationId: 'runeName',
      summary: 'Whether a name can be etched',
      tags: ['runes'],
      params: Type.Object({
        rune: Type.String({
          description: 'a name, with • or . as spacers or without',
          acceptedForm: acceptedForms.runeName,
          examples: ['UNCOMMON.GOODS'],
        }),
      }),
      response: { 200: nameAnswer, 304: unchanged },
    },
    config: { errors: 'own', guard: open },
    handler: async (request, reply) => {
      const name = runeNameOf(request.params.rune);
      if (await answeredUnchanged(pool, request, reply, true)) return reply;
      return withSnapshot(
        pool,
        async ({ client, tip }) => {
          await requireRunes(client);
          const standing = await nameStanding(client, network, name);
          setMoment(request, reply, tip, standing.revision);
          return nameView(client, name, tip, network, standing);
        },
        askerOf(reply).signal,
      );
    },
  });
}

function claimView({ txid, firstSeen, spacers, state, matureHeight }: PendingClaim, rune: Rune) {
  return {
    txid: displayHash(txid),
    firstSeen: firstSeen.toISOString(),
    rune: formatSpacedRune({ rune, spacers }),
    state,
    matureHeight,
  };
}

const nextHeight = (tip: Tip | null): number => (tip === null ? 0 : tip.height + 1);

function mintingView(
  rune: RuneDetail,
  height: number,
  pendingCount: number | null,
): Type.Static<typeof mintingAnswer> {
  const { terms, mints, divisibility, premine, burned } = rune;
  const amount = terms?.amount ?? zeroU128;
  const minted = asU128(BigInt(mints) * BigInt(amount));
  return {
    ...runeView(rune),
    height,
    state: mintStateOf(rune, height),
    amount: terms === null ? null : amountView(amount, divisibility),
    mints,
    pendingMints: pendingCount,
    ...capView(terms, mints),
    ...windowView(terms, smallU128(rune.height), height),
    minted: amountView(minted, divisibility),
    premine: amountView(premine, divisibility),
    burned: amountView(burned, divisibility),
  };
}

function capView(terms: Terms | null, mints: number) {
  if (terms === null) return { cap: null, left: null, progress: null };
  const cap = terms.cap ?? zeroU128;
  const left = BigInt(cap) - BigInt(mints);
  return { cap: String(cap), left: String(left), progress: cap === 0 ? null : mints / Number(cap) };
}

/** A height as a number, because heights go up to 2^64 - 1. Returns null for null. */
const heightView = (height: U128 | null): number | null =>
  typeof height === 'bigint' ? exactNumber(String(height)) : height;

function windowView(terms: Terms | null, block: U128, height: number) {
  const start = terms === null ? null : mintStart(terms, block);
  const end = terms === null ? null : mintEnd(terms, block);
  const blocksTo = (at: U128 | null): number | null =>
    typeof at === 'number' ? Math.max(0, at - height) : null;
  return {
    start: heightView(start),
    end: heightView(end),
    blocksToStart: start === null ? null : blocksTo(start),
    blocksToEnd: blocksTo(end),
  };
}

async function nameView(
  client: ClientBase,
  name: Rune,
  tip: Tip | null,
  network: NetworkParameters,
  { rune, unlock: first, claims }: NameStanding,
): Promise<Type.Static<typeof nameAnswer>> {
  const height = nextHeight(tip);
  const isFree = first !== null && rune === null;
  const block = tip === null ? null : await blockAt(client, { kind: 'height', height: tip.height });
  return {
    name: runeLetters(name),
    state: nameState(name, rune, first !== null && height >= first && name >= minimumRuneAt(network, height)),
    height,
    takenBy: rune === null ? null : { ...runeView(rune), etching: displayHash(rune.etching) },
    unlock: first === null ? null : unlockView(first, height, block?.time ?? null),
    commitment: isFree
      ? {
          push: Buffer.from(runeCommitment(name)).toString('hex'),
          blocks: maturityBlocks,
          earliestReveal: Math.max(height + maturityBlocks, first),
        }
      : null,
    pending: claims === null ? null : claims.map((claim) => claimView(claim, name)),
  };
}

function nameState(name: Rune, rune: RuneDetail | null, isUnlocked: boolean): string {
  if (rune !== null) return 'taken';
  if (isReservedRune(name)) return 'reserved';
  return isUnlocked ? 'free' : 'locked';
}

/**
 * The unlock of a name: the height, the number of blocks until this height, and the estimated date.
 *
 * @param time the time of the tip in Unix seconds
 */
function unlockView(first: number, height: number, time: number | null) {
  const blocksLeft = Math.max(0, first - height);
  const isComing = blocksLeft > 0 && time !== null;
  return {
    height: first,
    blocksLeft,
    estimatedAt: isComing ? new Date((time + (blocksLeft + 1) * blockSeconds) * 1000).toISOString() : null,
  };
}
